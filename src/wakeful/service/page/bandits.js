// The list of bandits.

import { arrange, make, say } from "./elements.js";
import { count, plural, rate } from "./numbers.js";

const FILTER_FROM = 9; // so many bandits are worth a box to search in

/** The address, within the page, of a bandit. */
export const addressOf = (name) => `#bandit=${encodeURIComponent(name)}`;

export class BanditList {
  constructor(node) {
    this.items = new Map();
    this.says = make("p", { class: "soft", role: "status" });
    this.box = make("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "Search bandits",
      hidden: true,
      input: () => this.filter(),
    });
    this.list = make("ul");
    node.append(make("h2", {}, "Bandits"), this.box, this.list, this.says);
  }

  /** List these bandits, and mark the chosen one. */
  show(states, chosen) {
    const old = this.items;
    this.items = new Map(states.map((state) => [state.name, old.get(state.name) ?? this.item(state.name)]));
    for (const state of states) this.fill(this.items.get(state.name), state, state.name === chosen);
    arrange(
      this.list,
      [...this.items.values()].map((item) => item.node),
    );
    this.box.hidden = states.length < FILTER_FROM;
    this.filter();
  }

  item(name) {
    const [about, pace] = [make("span", { class: "soft" }), make("span", { class: "soft pace" })];
    const link = make(
      "a",
      { href: addressOf(name) },
      make("span", { class: "arm" }, name),
      make("span", { class: "line" }, about, pace),
    );
    return { node: make("li", {}, link), link, about, pace };
  }

  fill(item, state, chosen) {
    const what = state.kind === "dueling" ? "duel" : "decision";
    say(item.about, `${state.policy} \u00b7 ${plural(state.decisions, what)}`);
    say(item.pace, state.rate > 0 ? `${rate(state.rate)} / s` : "");
    if (chosen) item.link.setAttribute("aria-current", "page");
    else item.link.removeAttribute("aria-current");
  }

  /** Hide the bandits whose names do not hold what is in the box. */
  filter() {
    const wanted = this.box.hidden ? "" : this.box.value.trim().toLowerCase();
    let shown = 0;
    for (const [name, { node }] of this.items) {
      node.hidden = !name.toLowerCase().includes(wanted);
      shown += !node.hidden;
    }
    say(this.says, wanted ? `${count(shown)} of ${plural(this.items.size, "bandit")}` : "");
  }
}
