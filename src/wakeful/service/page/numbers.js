// Numbers as people read them.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const ONE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

export const known = (value) => typeof value === "number" && Number.isFinite(value);

export const count = (value) => (known(value) ? COUNT.format(value) : "");

/** A count that may have a half: ties are shared. */
export const halves = (value) => (known(value) ? ONE.format(value) : "");

/** A number with so many decimals; nothing if it is unknown; a true minus sign. */
export function decimals(value, digits = 3) {
  if (!known(value)) return "";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
}

/** A number with about three digits. */
export function brief(value) {
  if (!known(value)) return "";
  const size = Math.abs(value);
  return size >= 1000
    ? decimals(value, 0).replace(/\d+/, (d) => COUNT.format(d))
    : decimals(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** A probability in percent; never 0 or 100 % where it only is close to that. */
export function percent(p) {
  if (!known(p)) return "";
  if (p > 0 && p < 0.001) return "< 0.1 %";
  if (p < 1 && p > 0.999) return "> 99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}

/** Decisions a second. */
export const rate = (value) => (known(value) ? (value >= 100 ? count(value) : ONE.format(value)) : "");

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** A time span in the largest unit that gives a whole number. */
export function duration(seconds) {
  const [unit, size] = UNITS.find(([, s]) => seconds >= s && seconds % s === 0) ?? ["second", 1];
  return plural(seconds / size, unit);
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
