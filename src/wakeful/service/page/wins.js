// The win matrix of duels: how often the arm of the row won against the arm of the column.

import { Matrix } from "./matrix.js";
import { halves, percent } from "./numbers.js";

const ABOUT =
  "The share of duels that the arm of the row won against the arm of the column; a tie counts half for each.";

export class Wins extends Matrix {
  constructor(bandit) {
    const share = { head: "Won", number: true, text: (row) => percent(this.share(row.i, row.j)) };
    const wins = { head: "Wins", number: true, text: (row) => halves(this.found.wins[row.i][row.j]) };
    const duels = { head: "Duels", number: true, text: (row) => halves(this.duels(row.i, row.j)) };
    super(bandit, "wins", "Win matrix", ABOUT, {
      rows: "winner",
      columns: "against",
      legend: ["0 %", "100 %"],
      pairs: {
        columns: ["Arm", "Against", share, wins, duels],
        order: (i, j) => (this.duels(i, j) ? this.share(i, j) : null),
      },
    });
  }

  took(found) {
    this.found = found;
  }

  duels(i, j) {
    return this.found.wins[i][j] + this.found.wins[j][i];
  }

  share(i, j) {
    return this.found.wins[i][j] / this.duels(i, j);
  }

  cell(i, j) {
    const { arms, wins } = this.found;
    if (i === j || !this.duels(i, j)) return null;
    const share = this.share(i, j);
    const won = `${arms[i]} won ${halves(wins[i][j])} of ${halves(this.duels(i, j))} duels`;
    const sentence = `${won} against ${arms[j]}: ${percent(share)}.`;
    return { weight: 2 * share - 1, text: `${Math.round(100 * share)}`, sentence };
  }
}
