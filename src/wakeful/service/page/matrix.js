// A matrix of arms against arms that the service has: read again and again, large ones only when somebody asks.

import { make, say, section } from "./elements.js";
import { HeatMap } from "./heatmap.js";
import { count } from "./numbers.js";
import { pathOf, read } from "./service.js";

const INVALID = 422;
const MOST_UNASKED = 300; // arms

/**
 * `what` is its name in the address, `drawn` what the heat map needs besides `cell`. Who extends it has `took(found)`,
 * `cell(i, j)` and, if the service may refuse it, the sentence `without()`.
 */
export class Matrix {
  constructor(bandit, what, title, about, drawn) {
    this.bandit = bandit;
    this.what = what;
    this.map = new HeatMap({ label: title, cell: (i, j) => this.cell(i, j), ...drawn });
    this.map.node.hidden = true;
    this.says = make("p", { class: "soft", role: "status" });
    this.asks = make(
      "button",
      { type: "button", hidden: true, click: () => this.want().catch((error) => say(this.says, error.message)) },
      "Read them",
    );
    this.node = section(title, about, this.says, this.asks, this.map.node);
  }

  show(state) {
    this.size = state.arms.length;
    this.policy = state.policy;
  }

  /** Read it now, and from now on. */
  want() {
    this.wanted = true;
    return this.refresh();
  }

  /** Read it again, unless there is none. */
  async refresh() {
    if (this.refused) return;
    const many = this.size > MOST_UNASKED && !this.wanted;
    this.asks.hidden = !many;
    say(this.says, many ? `These are ${count(this.size)} \u00d7 ${count(this.size)} numbers.` : "");
    if (!many) await this.load();
  }

  async load() {
    try {
      this.took(await read(pathOf(this.bandit, this.what)));
    } catch (error) {
      if (error.status !== INVALID || !this.without) throw error;
      this.refused = true;
      say(this.says, this.without());
      return;
    }
    this.map.node.hidden = false;
    this.map.show(this.found.arms);
  }
}
