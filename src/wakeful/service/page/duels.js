// One dueling bandit: ranking with intervals, win matrix, ties and the side effect.

import { make, section } from "./elements.js";
import { percent, sigmoid } from "./numbers.js";
import { Ranking, SCALES } from "./ranking.js";
import { pathOf, read } from "./service.js";
import { View } from "./view.js";
import { Wins } from "./wins.js";

const RANKING = "Strengths with their 95 % intervals; the true rank lies in its interval with the same confidence.";

export class DuelView extends View {
  constructor(name) {
    super(name, "Duels", "Ties", "Left side wins");
    this.asked = { scale: "elo", group: "" };
    this.ranks = new Ranking();
    this.wins = new Wins(name);
    const controls = make("div", { class: "together spread" }, this.scales(), this.groups());
    const ranking = section("Ranking", RANKING, controls, this.ranks.node);
    this.node = make("article", {}, this.heading.node, this.figures.node, ranking, this.wins.node, this.notes.node);
    this.reads(
      () => this.ranking(),
      () => this.wins.refresh(),
    );
  }

  show(state) {
    this.wins.show(state);
    super.show(state);
  }

  /** Choose the scale of strengths. */
  scales() {
    const options = Object.entries(SCALES).map(([value, { words }]) => {
      const change = () => this.choose({ scale: value });
      const input = make("input", { type: "radio", name: "scale", value, checked: value === this.asked.scale, change });
      return make("label", {}, input, make("span", {}, words));
    });
    const legend = make("legend", { class: "unseen" }, "Scale of strengths");
    return make("fieldset", { class: "segments" }, legend, ...options);
  }

  /** Choose the group whose duels count. */
  groups() {
    this.select = make("select", { change: () => this.choose({ group: this.select.value }) });
    this.grouped = make("label", { class: "together", hidden: true }, "Group", this.select);
    return this.grouped;
  }

  choose(what) {
    this.asked = { ...this.asked, ...what };
    this.ranking().catch((error) => this.failed(error));
  }

  async ranking() {
    const { asked } = this;
    const query = asked.group ? asked : { scale: asked.scale };
    const found = await read(pathOf(this.name, "ranking", query));
    if (asked !== this.asked) return; // another one was asked for meanwhile
    this.heading.trouble(null);
    this.ranks.show(found.rows, asked.scale);
    this.offer(found.groups);
    this.estimate("Ties", found.tie_rate, (x) => x, [0, 1]);
    this.estimate("Left side wins", found.side_effect, sigmoid, [0.25, 0.75], 0.5);
    this.notes.show(found.notes);
  }

  /** Show an estimate as a probability; `ends` are those of its axis, unless its interval is wider. */
  estimate(label, found, scaled, ends, mark) {
    if (!found) {
      this.figures.estimate(label, "", "unknown so far", {}, ends, mark);
      return;
    }
    const [value, low, high] = [found.value, found.low, found.high].map(scaled);
    const wide = [Math.min(ends[0], low), Math.max(ends[1], high)];
    const between = `${percent(low)} to ${percent(high)}`;
    this.figures.estimate(label, percent(value), between, { value, low, high }, wide, mark);
  }

  /** Offer the groups that duels belong to. */
  offer(groups) {
    this.grouped.hidden = !groups.length;
    const offered = JSON.stringify(groups);
    if (offered === this.offered) return;
    this.offered = offered;
    const options = [["", "all duels"], ...groups.map((group) => [group, group])];
    const option = ([value, words]) => make("option", { value, selected: value === this.asked.group }, words);
    this.select.replaceChildren(...options.map(option));
  }
}
