// What the views of a bandit and of a dueling bandit have in common: heading, counts, notes, and when to read again.

import { Figures } from "./figures.js";
import { Heading, Notes } from "./heading.js";
import { count, rate } from "./numbers.js";
import { Pace } from "./pace.js";

/** `counted` is what is counted, decisions or duels; `estimates` are the labels of the other figures. */
export class View {
  constructor(name, counted, ...estimates) {
    this.name = name;
    this.counted = counted;
    this.heading = new Heading();
    this.figures = new Figures(counted, `${counted} a second`, "Pending feedback", ...estimates);
    this.notes = new Notes();
    this.paces = [];
  }

  /** Do all this again whenever something has happened to the bandit. */
  reads(...works) {
    this.paces = works.map((work) => new Pace(work, (error) => this.failed(error)));
  }

  /** Show what the list says of the bandit; read the rest again if something has happened. */
  show(state) {
    this.heading.show(state);
    this.figures.set(this.counted, count(state.decisions), `${count(state.feedback)} with feedback`);
    this.figures.set(`${this.counted} a second`, rate(state.rate));
    this.figures.set("Pending feedback", count(state.pending), unanswered(state));
    if (state.events === this.events) return;
    this.events = state.events;
    this.paces.forEach((pace) => pace.ask());
  }

  /** Say what the service refused, and read everything again when it next tells of a change. */
  failed(error) {
    this.events = null;
    this.heading.trouble(error);
  }

  stop() {
    this.paces.forEach((pace) => pace.stop());
  }
}

/** Say what became of decisions without feedback in time. */
function unanswered({ expired, late }) {
  return [expired && `${count(expired)} expired`, late && `${count(late)} late`].filter(Boolean).join(", ");
}
