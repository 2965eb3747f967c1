// The colours and the font of the style sheet, for what is drawn on a canvas.

/** Return the colour that lies `share` of the way from one to another; colours are lists of red, green and blue. */
export const mixed = (from, to, share) => from.map((part, n) => Math.round(part + share * (to[n] - part)));

/** Return how bright a colour is, as WCAG has it. */
function luminance(colour) {
  const [red, green, blue] = colour
    .map((part) => part / 255)
    .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colours of now, by day or by night; `changed` is called when that changes. */
export class Colours {
  constructor(changed) {
    this.read();
    const night = matchMedia("(prefers-color-scheme: dark)");
    night.addEventListener("change", () => {
      this.read();
      changed();
    });
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const parts = (name) => [1, 3, 5].map((n) => Number.parseInt(colour(name).slice(n, n + 2), 16));
    this.ink = colour("ink");
    [this.ground, this.accent, this.warm, this.none] = ["empty", "accent", "warm", "ground"].map(parts);
    this.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }

  /** Return black or white, whichever is easier to read on a colour. */
  on(colour) {
    return luminance(colour) > 0.18 ? "#14171a" : "#ffffff";
  }
}
