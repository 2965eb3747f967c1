// One bandit: its figures, what its policy believes, its arms, the awake set, and the switch gains.

import { Arms } from "./arms.js";
import { AwakeSet } from "./awake.js";
import { make, say, section } from "./elements.js";
import { SwitchGains } from "./gains.js";
import { axis } from "./interval.js";
import { decimals } from "./numbers.js";
import { pathOf, read } from "./service.js";
import { View } from "./view.js";

const ARMS =
  "Mean losses with their 95 % intervals. The share now is the probability of an arm if all available arms are awake.";
const AWAKE = "How likely each arm is, if just these arms are available. Click an arm to let it sleep or to wake it.";

export class BanditView extends View {
  constructor(name) {
    super(name, "Decisions", "Mean loss", "Gain over uniform");
    this.words = make("p", { class: "words" });
    this.belief = section("What the policy believes", "", this.words);
    this.arms = new Arms();
    this.awake = new AwakeSet(name);
    this.gains = new SwitchGains(name);
    const arms = section("Arms", ARMS, this.arms.node);
    const awake = section("If these arms are awake", AWAKE, this.awake.node);
    const parts = [this.heading.node, this.figures.node, this.belief, arms, awake, this.gains.node, this.notes.node];
    this.node = make("article", {}, ...parts);
    this.reads(
      () => this.report(),
      () => this.awake.refresh(),
      () => this.gains.refresh(),
    );
  }

  show(state) {
    this.awake.show(state.arms);
    this.gains.show(state);
    super.show(state);
  }

  async report() {
    const report = await read(pathOf(this.name, "report"));
    this.heading.trouble(null);
    this.estimates(report);
    say(this.words, report.words);
    this.belief.hidden = !report.words;
    this.arms.show(report);
    this.notes.show(report.notes.filter((note) => note !== report.words));
  }

  estimates({ loss, uniform_loss: uniform, gain }) {
    this.figures.set("Mean loss", decimals(loss), loss === null ? "no feedback yet" : `uniform: ${decimals(uniform)}`);
    const between = gain.value === null ? "" : `${decimals(gain.low)} to ${decimals(gain.high)} a decision`;
    const ends = axis([gain.low, gain.high, 0]);
    this.figures.estimate("Gain over uniform", decimals(gain.value), between, gain, ends, 0);
  }
}
