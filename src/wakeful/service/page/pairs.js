// All pairs of arms as a table, the most telling first; made when it is opened, a hundred rows at a time.

import { make, say } from "./elements.js";
import { plural } from "./numbers.js";
import { Table } from "./tables.js";

const AT_ONCE = 100;

/** `columns` as tables have them, of rows {i, j, first, second}; `order(i, j)` is what is largest in the first row. */
export class Pairs {
  constructor(caption, { columns, order }) {
    this.order = order;
    this.arms = [];
    this.most = AT_ONCE;
    const names = [
      { head: columns[0], name: true, heads: true, text: (row) => row.first },
      { head: columns[1], name: true, text: (row) => row.second },
    ];
    this.table = new Table(caption, [...names, ...columns.slice(2)], { key: (row) => `${row.i} ${row.j}` });
    this.more = make("button", { type: "button", class: "quiet", click: () => this.grow() });
    this.node = make(
      "details",
      { toggle: () => this.fill() },
      make("summary", {}, "All numbers as a table"),
      this.table.node,
      this.more,
    );
  }

  show(arms) {
    this.arms = arms;
    this.fill();
  }

  grow() {
    this.most += AT_ONCE;
    this.fill();
  }

  fill() {
    if (!this.node.open) return;
    const found = [];
    for (let i = 0; i < this.arms.length; i++) {
      for (let j = 0; j < this.arms.length; j++) {
        const order = this.order(i, j);
        if (i !== j && order !== null) found.push({ i, j, order });
      }
    }
    found.sort((a, b) => b.order - a.order);
    this.table.show(
      found.slice(0, this.most).map((row) => ({ ...row, first: this.arms[row.i], second: this.arms[row.j] })),
    );
    const left = found.length - this.most;
    this.more.hidden = left <= 0;
    say(this.more, `Show more: ${plural(left, "pair")} left`);
  }
}
