// How often something is read again.

const SHORTEST_REST = 900; // milliseconds

/**
 * Does `work` when asked, never twice at once; it rests four times as long as the work took, so that slow work is rare.
 * `failed(error)` hears of what went wrong.
 */
export class Pace {
  constructor(work, failed) {
    this.work = work;
    this.failed = failed;
  }

  /** Do the work now, or as soon as it has rested; asking again meanwhile changes nothing. */
  ask() {
    if (this.busy || this.timer) this.wanted = true;
    else this.go();
  }

  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
  }

  async go() {
    if (this.stopped) return;
    this.wanted = false;
    this.busy = true;
    const began = performance.now();
    try {
      await this.work();
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy = false;
      const rest = Math.max(SHORTEST_REST, 4 * (performance.now() - began));
      this.timer = setTimeout(() => {
        this.timer = 0;
        if (this.wanted) this.go();
      }, rest);
    }
  }
}
