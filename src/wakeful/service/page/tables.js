// Tables that are updated in place: a row stays the same element, so nothing flickers or loses its selection.

import { arrange, make, say } from "./elements.js";

const ROWS_IN_FULL = 30; // longer tables scroll by themselves

/**
 * columns: {head, value(row) to sort by, text(row) or fill(cell, row)}, and marks: `number`, `name`, `heads` the row,
 * `minor` (left out on a phone), `wide` (drawn, with the `ends` of its axis in the head). A table whose columns have no
 * `value` cannot be sorted. `key(row)` names a row; `faint(row)` is whether it is shown in grey.
 */
export class Table {
  constructor(caption, columns, { key, faint = () => false }) {
    this.columns = columns;
    this.key = key;
    this.faint = faint;
    this.rows = [];
    this.lines = new Map();
    this.heads = columns.map((column, n) => this.head(column, n));
    this.body = make("tbody");
    const head = make("thead", {}, make("tr", {}, ...this.heads));
    const table = make("table", {}, make("caption", { class: "unseen" }, caption), head, this.body);
    this.node = make("div", { class: "scroll rows", role: "region", "aria-label": caption }, table);
  }

  head(column, n) {
    const sorts = column.value && { type: "button", class: "sorts", click: () => this.sort(n) };
    column.title = column.value ? make("button", sorts, column.head) : make("span", {}, column.head);
    column.ends = ["", ""].map(() => make("span"));
    return make(
      "th",
      { scope: "col", class: kind(column) },
      column.title,
      make("span", { class: "ends" }, ...column.ends),
    );
  }

  /** Sort by a column; by the same one again: the other way round, then as it was. */
  sort(n) {
    const column = this.columns[n];
    const ways = column.number ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
    const way = ways[this.sorted === column ? (ways.indexOf(this.way) + 1) % 3 : 0];
    this.heads.forEach((head) => head.removeAttribute("aria-sort"));
    if (way) this.heads[n].setAttribute("aria-sort", way);
    [this.sorted, this.way] = way ? [column, way] : [];
    this.place();
  }

  /** Show these rows and no others. */
  show(rows) {
    this.rows = rows;
    const old = this.lines;
    this.lines = new Map(rows.map((row) => [this.key(row), old.get(this.key(row)) ?? this.line()]));
    for (const row of rows) this.fill(this.lines.get(this.key(row)), row);
    this.node.classList.toggle("long", rows.length > ROWS_IN_FULL);
    if (rows.length > ROWS_IN_FULL) this.node.tabIndex = 0; // the keyboard scrolls what it can focus
    this.place();
  }

  line() {
    const cell = (column) => make(column.heads ? "th" : "td", { scope: column.heads && "row", class: kind(column) });
    return make("tr", {}, ...this.columns.map(cell));
  }

  /** Write the ends of the axis on which a column is drawn. */
  scale(column, texts) {
    texts.forEach((text, n) => say(column.ends[n], text));
  }

  fill(line, row) {
    line.classList.toggle("faint", this.faint(row));
    this.columns.forEach((column, n) => {
      const cell = line.children[n];
      if (column.fill) column.fill(cell, row);
      else say(cell, column.text(row));
    });
  }

  place() {
    const rows = this.sorted
      ? this.rows.toSorted((a, b) => order(this.sorted.value(a), this.sorted.value(b), this.way))
      : this.rows;
    arrange(
      this.body,
      rows.map((row) => this.lines.get(this.key(row))),
    );
  }
}

const kind = (column) => ["number", "minor", "wide", "name"].filter((mark) => column[mark]).join(" ");

/** Compare two values; unknown ones come last, whichever way. */
function order(a, b, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  const sign = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  return way === "descending" ? -sign : sign;
}

const drawings = new WeakMap();

/** Return the one drawing that a cell holds, made by `build` the first time. */
export function drawing(cell, build) {
  if (!drawings.has(cell)) {
    drawings.set(cell, build());
    cell.append(...drawings.get(cell).nodes);
  }
  return drawings.get(cell);
}
