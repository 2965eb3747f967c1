// Switch gains: what playing another arm instead would have saved, as a heat map.

import { Matrix } from "./matrix.js";
import { brief, known } from "./numbers.js";

const ABOUT =
  "How much less would have been lost in total, had the arm of the column been played " +
  "whenever the arm of the row was, and both were awake.";

export class SwitchGains extends Matrix {
  constructor(bandit) {
    const gain = { head: "Gain", number: true, text: (row) => brief(this.found.gains[row.i][row.j]) };
    const error = { head: "Standard error", number: true, text: (row) => brief(this.found.errors[row.i][row.j]) };
    super(bandit, "switch-gains", "Switch gains", ABOUT, {
      rows: "played",
      columns: "instead",
      legend: ["more lost", "less lost"],
      pairs: { columns: ["Played", "Instead", gain, error], order: (i, j) => this.found.gains[i][j] },
    });
  }

  without() {
    return `${this.policy} does not estimate switch gains; SIExp3, for one, does.`;
  }

  took(found) {
    this.found = found;
    this.largest = 1e-9;
    for (const row of found.gains) for (const gain of row) this.largest = Math.max(this.largest, Math.abs(gain ?? 0));
  }

  cell(i, j) {
    const { arms, gains, errors } = this.found;
    if (i === j || !known(gains[i][j])) return null;
    const sure = known(errors[i][j]) ? `, standard error ${brief(errors[i][j])}` : "";
    const sentence = `${arms[j]} instead of ${arms[i]}: ${brief(gains[i][j])}${sure}.`;
    return { weight: gains[i][j] / this.largest, text: brief(gains[i][j]), sentence };
  }
}
