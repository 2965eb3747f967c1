// The few large numbers at the top: what is counted, what is estimated with an interval.

import { make, say } from "./elements.js";
import { IntervalBar } from "./interval.js";

export class Figures {
  constructor(...labels) {
    this.parts = new Map(labels.map((label) => [label, this.part(label)]));
    this.node = make("dl", { class: "figures" }, ...[...this.parts.values()].map((part) => part.node));
  }

  part(label) {
    const value = make("dd", { class: "value" }, "\u2013");
    const note = make("dd", { class: "soft note" });
    const bar = new IntervalBar();
    const node = make(
      "div",
      { class: "figure" },
      make("dt", {}, label),
      value,
      make("dd", { class: "drawn" }, bar.node),
      note,
    );
    return { node, value, note, bar };
  }

  /** Show a number and what is said below it. */
  set(label, text, note = "") {
    const part = this.parts.get(label);
    say(part.value, text || "\u2013");
    say(part.note, note);
    return part;
  }

  /** Show an estimate as a bar as well. */
  estimate(label, text, note, interval, ends, mark) {
    const part = this.set(label, text, note);
    part.node.classList.add("estimate");
    part.bar.show(interval, ends, mark);
  }
}
