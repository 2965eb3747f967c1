// The table of a bandit's arms: how often each was chosen, its mean loss with an interval, and its share now.

import { make, say } from "./elements.js";
import { IntervalBar, axis } from "./interval.js";
import { count, decimals, known, percent } from "./numbers.js";
import { Table, drawing } from "./tables.js";

/** Fill a cell with the name of an arm, and whether it is available or retired. */
export function fillName(cell, row) {
  const parts = drawing(cell, () => {
    const nodes = [make("span", { class: "arm" }), make("span", { class: "state soft" })];
    return { nodes };
  });
  say(parts.nodes[0], row.arm);
  parts.nodes[0].title = row.arm;
  say(parts.nodes[1], row.retired ? "retired" : "available");
}

/** Fill a cell with a bar and the numbers of an interval. */
export function fillInterval(cell, interval, ends, digits) {
  const parts = drawing(cell, () => {
    const bar = new IntervalBar();
    const [value, between] = [make("span", { class: "estimated" }), make("span", { class: "between soft" })];
    return {
      bar,
      value,
      between,
      nodes: [make("span", { class: "drawn" }, bar.node, make("span", { class: "numbers" }, value, between))],
    };
  });
  parts.bar.show(interval, ends);
  say(parts.value, decimals(interval.value, digits) || "\u2013");
  say(
    parts.between,
    known(interval.low) ? `${decimals(interval.low, digits)} to ${decimals(interval.high, digits)}` : "no feedback",
  );
}

/** Fill a cell with a probability, as a bar and in percent. */
function fillShare(cell, p) {
  const parts = drawing(cell, () => {
    const [bar, text] = [make("span", { class: "share", "aria-hidden": "true" }), make("span")];
    return { bar, text, nodes: [make("span", { class: "drawn" }, bar, text)] };
  });
  parts.bar.style.setProperty("--share", (p ?? 0).toFixed(4));
  say(parts.text, percent(p));
}

export class Arms {
  constructor() {
    const loss = { head: "Mean loss", wide: true, number: true, value: (row) => row.mean_loss };
    loss.fill = (cell, row) => fillInterval(cell, { value: row.mean_loss, low: row.low, high: row.high }, this.ends, 3);
    this.loss = loss;
    const columns = [
      { head: "Arm", name: true, heads: true, value: (row) => row.arm, fill: fillName },
      { head: "Awake", number: true, minor: true, value: (row) => row.awake, text: (row) => count(row.awake) },
      { head: "Chosen", number: true, value: (row) => row.chosen, text: (row) => count(row.chosen) },
      { head: "Pending", number: true, minor: true, value: (row) => row.pending, text: (row) => count(row.pending) },
      loss,
      {
        head: "Share now",
        number: true,
        value: (row) => row.probability,
        fill: (cell, row) => fillShare(cell, row.probability),
      },
    ];
    this.table = new Table("Arms", columns, { key: (row) => row.arm, faint: (row) => row.retired });
    this.node = this.table.node;
  }

  /** Show the arms of a report. */
  show(report) {
    const [from, to] = axis(report.arms.flatMap((arm) => [arm.low, arm.high]));
    this.ends = [Math.max(0, from), Math.min(1, to)];
    this.table.scale(
      this.loss,
      this.ends.map((end) => decimals(end, 2)),
    );
    this.table.show(report.arms);
  }
}
