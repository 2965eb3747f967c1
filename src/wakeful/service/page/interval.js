// An estimate drawn with its interval: a bar from low to high, and a point at the value.

import { make } from "./elements.js";
import { known } from "./numbers.js";

/** Return the ends of an axis on which all these numbers lie, rounded outwards to a round step. */
export function axis(numbers) {
  const all = numbers.filter(known);
  if (!all.length) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / 2));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => span / n <= 5);
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
}

export class IntervalBar {
  constructor() {
    const parts = ["mark", "range", "point"].map((name) => make("span", { class: name }));
    this.node = make("span", { class: "interval unknown", "aria-hidden": "true" }, ...parts);
    this.mark = parts[0];
  }

  /** Draw a value between low and high on the axis from `ends[0]` to `ends[1]`; `mark` is a value to compare with. */
  show({ value, low, high }, ends, mark) {
    const place = (x) => Math.min(1, Math.max(0, (x - ends[0]) / (ends[1] - ends[0] || 1)));
    this.node.classList.toggle("unknown", ![value, low, high].every(known));
    this.mark.hidden = mark === undefined;
    const places = { at: place(value), low: place(low), high: place(high), mark: place(mark ?? 0) };
    for (const [name, x] of Object.entries(places)) this.node.style.setProperty(`--${name}`, x.toFixed(4));
  }
}
