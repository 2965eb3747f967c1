// What would be chosen if these arms were awake: a toggle for each arm, with its probability.

import { arrange, make, say } from "./elements.js";
import { percent, plural } from "./numbers.js";
import { Away, Refused, pathOf, read } from "./service.js";

const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

export class AwakeSet {
  constructor(bandit) {
    this.bandit = bandit;
    this.arms = [];
    this.asleep = new Set();
    this.toggles = new Map();
    this.group = make("div", {
      class: "toggles",
      role: "toolbar",
      "aria-label": "Arms, awake or asleep",
      keydown: (event) => this.move(event),
    });
    this.says = make("p", { class: "soft", role: "status" });
    const all = (words, asleep) =>
      make("button", { type: "button", class: "quiet", click: () => this.setAll(asleep) }, words);
    const bar = make(
      "div",
      { class: "together spread" },
      this.says,
      make("span", { class: "together" }, all("Wake all", false), all("Put all to sleep", true)),
    );
    this.node = make("div", {}, bar, this.group);
  }

  /** Offer these arms; those that were put to sleep stay asleep. */
  show(arms) {
    this.arms = arms.filter((arm) => !arm.retired).map((arm) => arm.name);
    const old = this.toggles;
    this.toggles = new Map(this.arms.map((arm) => [arm, old.get(arm) ?? this.toggle(arm)]));
    arrange(
      this.group,
      [...this.toggles.values()].map((toggle) => toggle.node),
    );
    if (!this.group.querySelector('[tabindex="0"]')) this.group.firstChild?.setAttribute("tabindex", "0");
    this.mark();
  }

  toggle(arm) {
    const chance = make("span", { class: "chance" });
    const name = make("span", { class: "arm" }, arm);
    const node = make(
      "button",
      { type: "button", class: "toggle", tabindex: "-1", click: () => this.flip(arm) },
      name,
      chance,
    );
    return { node, chance };
  }

  flip(arm) {
    if (!this.asleep.delete(arm)) this.asleep.add(arm);
    this.rove(this.toggles.get(arm).node);
    this.mark();
    this.refresh();
  }

  setAll(asleep) {
    this.asleep = new Set(asleep ? this.arms : []);
    this.mark();
    this.refresh();
  }

  /** Let the arrow keys walk over the arms: the tab key passes them in one step. */
  move(event) {
    const nodes = [...this.group.children];
    const at = nodes.indexOf(event.target) + KEYS[event.key];
    if (Number.isNaN(at)) return;
    event.preventDefault();
    const next = nodes[Math.max(0, Math.min(nodes.length - 1, at))];
    this.rove(next);
    next.focus();
  }

  rove(node) {
    for (const other of this.group.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    node.setAttribute("tabindex", "0");
  }

  /** Show who is awake. */
  mark() {
    for (const [arm, { node, chance }] of this.toggles) {
      const awake = !this.asleep.has(arm);
      node.setAttribute("aria-pressed", awake);
      if (!awake) {
        say(chance, "asleep");
        node.style.setProperty("--share", 0);
      }
    }
    const awake = this.awake().length;
    if (!this.refused)
      say(
        this.says,
        awake ? `${awake} of ${plural(this.arms.length, "arm")} awake` : "No arm is awake: there is nothing to choose.",
      );
  }

  awake() {
    return this.arms.filter((arm) => !this.asleep.has(arm));
  }

  /** Read the probabilities of the arms that are awake; an older question that is still open is dropped. */
  async refresh() {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    const awake = this.awake();
    this.refused = false;
    this.mark();
    if (!awake.length) return;
    try {
      const query = awake.length < this.arms.length ? { awake } : {};
      const found = await read(pathOf(this.bandit, "probabilities", query), signal);
      if (!signal.aborted) found.awake.forEach((arm, n) => this.chance(arm, found.probabilities[n]));
    } catch (error) {
      if (signal.aborted || error instanceof Away) return;
      if (!(error instanceof Refused)) throw error;
      this.refused = true;
      say(this.says, error.message);
    }
  }

  chance(arm, p) {
    const toggle = this.toggles.get(arm);
    if (!toggle || this.asleep.has(arm)) return;
    say(toggle.chance, percent(p));
    toggle.node.style.setProperty("--share", p.toFixed(4));
  }
}
