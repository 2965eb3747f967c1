// The table of a ranking.

import { fillInterval, fillName } from "./arms.js";
import { say } from "./elements.js";
import { axis } from "./interval.js";
import { decimals, halves } from "./numbers.js";
import { Table } from "./tables.js";

/** The scales of strengths: what they are called, and how many decimals they are shown with. */
export const SCALES = {
  elo: { words: "Elo", digits: 0 },
  log: { words: "Log-odds", digits: 2 },
  probability: { words: "Beats the mean", digits: 3 },
};

/** The ranks that an arm may truly have. */
const among = ({ best_rank: best, worst_rank: worst }) => (best === worst ? `${best}` : `${best} to ${worst}`);

const counted = (head, value) => ({ head, number: true, minor: true, value, text: (row) => halves(value(row)) });

export class Ranking {
  constructor() {
    this.strength = { head: "Elo", wide: true, number: true, value: (row) => row.strength };
    this.strength.fill = (cell, row) => fillInterval(cell, { ...row, value: row.strength }, this.ends, this.digits);
    const columns = [
      { head: "", text: (row) => `${row.rank}` },
      { head: "Arm", name: true, heads: true, value: (row) => row.arm, fill: fillName },
      { head: "True rank", number: true, text: among },
      this.strength,
      counted("Wins", (row) => row.wins),
      counted("Ties", (row) => row.ties),
      counted("Duels", (row) => row.duels),
    ];
    this.table = new Table("Ranking", columns, { key: (row) => row.arm, faint: (row) => row.retired });
    this.node = this.table.node;
  }

  /** Show the rows of a ranking on a scale. */
  show(rows, scale) {
    const { words, digits } = SCALES[scale];
    this.digits = digits;
    this.ends = axis(rows.flatMap((row) => [row.low, row.high]));
    say(this.strength.title, words);
    this.table.scale(
      this.strength,
      this.ends.map((end) => decimals(end, Math.min(digits, 2))),
    );
    this.table.show(rows);
  }
}
