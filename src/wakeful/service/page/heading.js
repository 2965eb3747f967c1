// The heading of a bandit: its name and how it decides; and the notes at its end.

import { arrange, make, say } from "./elements.js";
import { count, decimals, duration, plural } from "./numbers.js";
import { Away, Refused } from "./service.js";

export class Heading {
  constructor() {
    this.name = make("h1");
    this.about = make("p", { class: "soft" });
    this.refused = make("p", { class: "warned", role: "alert" });
    const back = make("a", { class: "back", href: "#" }, "\u2190 All bandits");
    this.node = make("header", { class: "heading" }, back, this.name, this.about, this.refused);
  }

  /** Say why something could not be read; that the service is away is said elsewhere. */
  trouble(error) {
    say(this.refused, error instanceof Refused ? error.message : "");
    if (error && !(error instanceof Refused || error instanceof Away)) throw error;
  }

  show(state) {
    const retired = state.arms.filter((arm) => arm.retired).length;
    const arms = plural(state.arms.length, "arm") + (retired ? `, ${count(retired)} retired` : "");
    say(this.name, state.name);
    say(
      this.about,
      [policy(state), state.kind === "dueling" ? "duels" : "", arms, patience(state)].filter(Boolean).join(" \u00b7 "),
    );
  }
}

/** Return a policy as the code that makes it. */
function policy({ policy: name, parameters }) {
  const set = Object.entries(parameters).filter(([, value]) => value !== null);
  const given = set.map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return given.length ? `${name}(${given.join(", ")})` : name;
}

/** Say how long feedback is waited for, and what is recorded then. */
function patience({ wait, default_loss: loss, kind }) {
  if (wait === null || wait === undefined) return "";
  const then = kind === "dueling" || loss === null ? "" : `, then loss ${decimals(loss, 2)}`;
  return `waits ${duration(wait)} for feedback${then}`;
}

/** Sentences about how the numbers are made. */
export class Notes {
  constructor() {
    this.body = make("div", { class: "soft" });
    this.node = make(
      "details",
      { class: "notes", hidden: true },
      make("summary", {}, "How these numbers are made"),
      this.body,
    );
  }

  show(notes) {
    const old = [...this.body.children];
    const lines = notes.map((note, n) => old[n] ?? make("p"));
    lines.forEach((line, n) => say(line, notes[n]));
    arrange(this.body, lines);
    this.node.hidden = !notes.length;
  }
}
