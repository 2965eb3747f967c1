// Server-sent events, read with fetch: EventSource cannot send an Authorization header.

import { Refused, refusal, send } from "./service.js";

const FIRST_WAIT = 500; // milliseconds; doubled after every failure
const LONGEST_WAIT = 15_000;
const SILENCE = 40_000; // then the connection is made again: a network that went away says nothing

/** Yield the events of a stream of bytes as {event, data}; comments and unknown fields are left out. */
export async function* events(bytes) {
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    yield* blocks.map(parsed);
  }
}

/** Return one event from its lines. */
function parsed(block) {
  const found = { event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, field, text] = /^([^:]*):? ?(.*)$/.exec(line);
    if (field === "data") found.data += (found.data ? "\n" : "") + text;
    else if (field === "event") found.event = text;
  }
  return found;
}

/**
 * Follows /v1/changes while the page is visible, and connects again with growing pauses.
 * `took(data)` gets what changed; `state(name, problem, seconds)` is told "live", "away" with the seconds until the next
 * try, or "refused"; a problem is a refusal or another error.
 */
export class Changes {
  constructor(took, state) {
    this.took = took;
    this.state = state;
    this.wait = FIRST_WAIT;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.start()));
    addEventListener("online", () => this.start());
  }

  /** Connect now, whatever was under way. */
  async start() {
    this.stop();
    const run = (this.run = new AbortController());
    let problem = null;
    try {
      await this.follow(run);
    } catch (error) {
      if (run !== this.run) return;
      problem = error;
      if (error instanceof Refused && error.status < 500 && error.status !== 429) {
        this.state("refused", error);
        return;
      }
    }
    if (run === this.run) this.again(run.silent, problem);
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    const { run } = this;
    this.run = null;
    run?.abort();
  }

  /** Read one connection until it ends. */
  async follow(run) {
    this.listen(run);
    const answer = await send("v1/changes", { signal: run.signal, headers: { Accept: "text/event-stream" } });
    if (!answer.ok) throw await refusal(answer);
    this.wait = FIRST_WAIT;
    let live = false; // until the first bandits are here, the page shows nothing of them
    const heard = new TransformStream({
      transform: (bytes, out) => {
        this.listen(run);
        out.enqueue(bytes);
      },
    });
    for await (const { event, data } of events(answer.body.pipeThrough(heard))) {
      if (run !== this.run) return;
      if (event !== "bandits") continue;
      if (!live) this.state("live");
      live = true;
      this.tell(data);
    }
  }

  /** Pass on what changed; a fault of the page is reported, and does not look like one of the connection. */
  tell(data) {
    try {
      this.took(JSON.parse(data));
    } catch (error) {
      reportError(error);
    }
  }

  /** Give the connection some time to say something. */
  listen(run) {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      run.silent = true;
      run.abort();
    }, SILENCE);
  }

  /** Connect after a pause; at once if the connection was only silent. */
  again(silent, problem) {
    clearTimeout(this.watch);
    const pause = silent ? 0 : this.wait * (0.75 + 0.5 * Math.random());
    if (!silent) this.state("away", problem, pause / 1000);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    this.timer = setTimeout(() => this.start(), pause);
  }
}
