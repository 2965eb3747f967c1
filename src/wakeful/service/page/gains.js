// Switch gains: what playing another arm instead would have saved, as a heat map.

import { make, say, section } from "./elements.js";
import { HeatMap } from "./heatmap.js";
import { brief, count, known } from "./numbers.js";
import { pathOf, read } from "./service.js";

const INVALID = 422;
const MOST_UNASKED = 300; // arms; larger matrices are read when somebody asks for them
const ABOUT =
  "How much less would have been lost in total, had the arm of the column been played whenever the arm of the row was, and both were awake.";

export class SwitchGains {
  constructor(bandit) {
    this.bandit = bandit;
    this.found = { arms: [], gains: [], errors: [] };
    const gain = { head: "Gain", number: true, text: (row) => brief(this.found.gains[row.i][row.j]) };
    const error = { head: "Standard error", number: true, text: (row) => brief(this.found.errors[row.i][row.j]) };
    this.map = new HeatMap({
      label: "Switch gains",
      rows: "played",
      columns: "instead",
      legend: ["more lost", "0", "less lost"],
      cell: (i, j) => this.cell(i, j),
      pairs: { columns: ["Played", "Instead", gain, error], order: (i, j) => this.found.gains[i][j] },
    });
    this.map.node.hidden = true;
    this.says = make("p", { class: "soft", role: "status" });
    this.asks = make("button", { type: "button", hidden: true, click: () => this.load() }, "Read them");
    this.node = section("Switch gains", ABOUT, this.says, this.asks, this.map.node);
  }

  show(state) {
    this.size = state.arms.length;
    this.policy = state.policy;
  }

  cell(i, j) {
    const { arms, gains, errors } = this.found;
    if (i === j || !known(gains[i][j])) return null;
    const sure = known(errors[i][j]) ? `, standard error ${brief(errors[i][j])}` : "";
    const sentence = `${arms[j]} instead of ${arms[i]}: ${brief(gains[i][j])}${sure}.`;
    return { weight: gains[i][j] / this.largest, text: brief(gains[i][j]), sentence };
  }

  /** Read them again, unless the policy has none. */
  async refresh() {
    if (this.refused) return;
    const many = this.size > MOST_UNASKED && !this.wanted;
    this.asks.hidden = !many;
    if (many) say(this.says, `They are ${count(this.size)} \u00d7 ${count(this.size)} numbers.`);
    else await this.load();
  }

  async load() {
    this.wanted = true;
    this.asks.hidden = true;
    try {
      this.found = await read(pathOf(this.bandit, "switch-gains"));
    } catch (error) {
      if (error.status !== INVALID) throw error;
      this.refused = true;
      say(this.says, `${this.policy} does not estimate switch gains; SIExp3, for one, does.`);
      return;
    }
    say(this.says, "");
    this.largest = Math.max(
      1e-9,
      ...this.found.gains.map((row) => Math.max(...row.map((gain) => Math.abs(gain ?? 0)))),
    );
    this.map.node.hidden = false;
    this.map.show(this.found.arms);
  }
}
