// The win matrix of duels: how often the arm of the row won against the arm of the column.

import { make, section } from "./elements.js";
import { HeatMap } from "./heatmap.js";
import { halves, percent } from "./numbers.js";
import { pathOf, read } from "./service.js";

const ABOUT =
  "The share of duels that the arm of the row won against the arm of the column; a tie counts half for each.";

export class Wins {
  constructor(bandit) {
    this.bandit = bandit;
    this.found = { arms: [], wins: [] };
    const share = { head: "Won", number: true, text: (row) => percent(this.share(row.i, row.j)) };
    const wins = { head: "Wins", number: true, text: (row) => halves(this.found.wins[row.i][row.j]) };
    const duels = { head: "Duels", number: true, text: (row) => halves(this.duels(row.i, row.j)) };
    this.map = new HeatMap({
      label: "Win matrix",
      rows: "winner",
      columns: "against",
      legend: ["0 %", "50 %", "100 %"],
      cell: (i, j) => this.cell(i, j),
      pairs: {
        columns: ["Arm", "Against", share, wins, duels],
        order: (i, j) => (this.duels(i, j) ? this.share(i, j) : null),
      },
    });
    this.node = section("Win matrix", ABOUT, make("div", {}, this.map.node));
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
    const sentence = `${arms[i]} won ${halves(wins[i][j])} of ${halves(this.duels(i, j))} duels against ${arms[j]}: ${percent(share)}.`;
    return { weight: 2 * share - 1, text: `${Math.round(100 * share)}`, sentence };
  }

  async refresh() {
    this.found = await read(pathOf(this.bandit, "wins"));
    this.map.show(this.found.arms);
  }
}
