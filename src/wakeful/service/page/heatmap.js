// A matrix of arms against arms as a heat map: drawn on a canvas, so that 200 x 200 cells are no burden, read with the
// mouse or the arrow keys, and as a table of pairs.

import { make, say } from "./elements.js";
import { Colours, mixed } from "./colours.js";
import { Pairs } from "./pairs.js";

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const [NARROWEST, WIDEST, TALLEST] = [2, 76, 40]; // of a cell, in pixels
const LABELS_FROM = 13; // narrower cells have no labels: the sentence below names the arms

/**
 * `cell(i, j)` gives {weight from -1 to 1, text, sentence} or null for nothing known; `legend` has the words at both
 * ends of the scale; `columns` are those of the table of pairs.
 */
export class HeatMap {
  constructor({ label, rows, columns, legend, cell, pairs }) {
    this.cell = cell;
    this.canvas = make("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label": `${label}. Arrow keys read the cells; the table below has all numbers.`,
    });
    this.frame = make("div", { class: "scroll map" }, this.canvas);
    this.reads = make("p", { class: "reading", role: "status" });
    const ramp = make("span", { class: "ramp", "aria-hidden": "true" });
    const scale = make("p", { class: "scale soft" }, make("span", {}, legend[0]), ramp, make("span", {}, legend[1]));
    const axes = make(
      "p",
      { class: "axes soft" },
      make("span", {}, `\u2193 ${rows}`),
      make("span", {}, `\u2192 ${columns}`),
    );
    this.pairs = new Pairs(label, pairs);
    this.node = make("figure", { class: "heatmap" }, axes, this.frame, this.reads, scale, this.pairs.node);
    this.arms = [];
    this.colours = new Colours(() => this.draw());
    this.follow();
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** Show the matrix of these arms. */
  show(arms) {
    if (this.at && (this.at[0] >= arms.length || this.at[1] >= arms.length)) this.at = null;
    this.arms = arms;
    this.pairs.show(arms);
    this.draw();
    this.tell();
  }

  follow() {
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.step(event));
    this.canvas.addEventListener("focus", () => this.read(this.at ?? [0, Math.min(1, this.arms.length - 1)]));
  }

  point(event) {
    const { left, top, width, height } = this.size;
    const i = Math.floor((event.offsetY - top) / height);
    const j = Math.floor((event.offsetX - left) / width);
    const inside = i >= 0 && j >= 0 && i < this.arms.length && j < this.arms.length;
    if (inside && (this.at?.[0] !== i || this.at?.[1] !== j)) this.read([i, j]);
  }

  step(event) {
    const step = STEPS[event.key];
    if (!step || !this.at) return;
    event.preventDefault();
    const inside = (x) => Math.max(0, Math.min(this.arms.length - 1, x));
    this.read([inside(this.at[0] + step[0]), inside(this.at[1] + step[1])]);
  }

  /** Say what one cell holds, and mark it. */
  read(at) {
    this.at = at;
    this.draw();
    this.tell();
  }

  tell() {
    if (this.at) say(this.reads, this.sentence(...this.at));
    else say(this.reads, "Point at a cell, or use the arrow keys, to read it.");
  }

  sentence(i, j) {
    if (i === j) return `${this.arms[i]}, and itself.`;
    return this.cell(i, j)?.sentence ?? `${this.arms[i]} and ${this.arms[j]}: nothing is known.`;
  }

  /** Return where the cells are, and how labels are written. */
  layout(pen) {
    const n = this.arms.length;
    const room = this.frame.clientWidth;
    const widest = Math.max(...this.arms.map((arm) => pen.measureText(arm).width));
    const label = Math.ceil(Math.min(widest, 150, 0.3 * room)) + 10;
    const fit = (left) => Math.max(NARROWEST, Math.min(WIDEST, Math.floor((room - left - 2) / n)));
    let [left, width] = [label, fit(label)];
    if (width < LABELS_FROM) [left, width] = [1, fit(1)];
    const named = width >= LABELS_FROM;
    const flat = named && widest <= width - 6;
    const top = !named ? 1 : flat ? 22 : label;
    return { n, left, top, width, height: Math.min(width, TALLEST), label: label - 10, named, flat };
  }

  draw() {
    if (!this.arms.length || !this.frame.clientWidth) return;
    const pen = this.canvas.getContext("2d");
    pen.font = this.colours.font;
    const size = (this.size = this.layout(pen));
    const [across, down] = [size.left + size.n * size.width + 1, size.top + size.n * size.height + 1];
    const dense = Math.min(devicePixelRatio || 1, 3);
    [this.canvas.width, this.canvas.height] = [across * dense, down * dense];
    this.canvas.style.width = `${across}px`;
    this.canvas.style.height = `${down}px`;
    pen.scale(dense, dense);
    pen.font = this.colours.font;
    this.drawCells(pen);
    if (size.named) this.drawNames(pen);
    this.drawMark(pen);
  }

  drawCells(pen) {
    const { n, left, top, width, height } = this.size;
    const gap = width >= LABELS_FROM ? 1 : 0;
    const { ground, accent, warm, none } = this.colours;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const cell = this.cell(i, j);
        const colour = cell ? mixed(ground, cell.weight < 0 ? warm : accent, Math.abs(cell.weight)) : none;
        pen.fillStyle = `rgb(${colour})`;
        pen.fillRect(left + j * width, top + i * height, width - gap, height - gap);
        if (cell && width > 24 && pen.measureText(cell.text).width < width - 4) {
          pen.fillStyle = this.colours.on(colour);
          pen.fillText(cell.text, left + (j + 0.5) * width, top + (i + 0.5) * height);
        }
      }
    }
  }

  drawNames(pen) {
    const { left, top, width, height, label, flat } = this.size;
    pen.fillStyle = this.colours.ink;
    this.arms.forEach((arm, k) => {
      const short = shortened(pen, arm, label);
      pen.textAlign = "right";
      pen.fillText(short, left - 8, top + (k + 0.5) * height);
      pen.save();
      pen.translate(left + (k + 0.5) * width, top - 8);
      pen.textAlign = flat ? "center" : "left";
      if (!flat) pen.rotate(-Math.PI / 2);
      pen.fillText(short, 0, 0);
      pen.restore();
    });
  }

  drawMark(pen) {
    if (!this.at) return;
    const { left, top, width, height } = this.size;
    const [x, y] = [left + this.at[1] * width, top + this.at[0] * height];
    pen.strokeStyle = this.colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x - 1, y - 1, width + 1, height + 1);
  }
}

/** Return a text that is no wider than `room`. */
function shortened(pen, text, room) {
  if (pen.measureText(text).width <= room + 1) return text;
  const letters = Array.from(text.slice(0, 80));
  while (letters.length && pen.measureText(`${letters.join("")}\u2026`).width > room) letters.pop();
  return `${letters.join("")}\u2026`;
}
