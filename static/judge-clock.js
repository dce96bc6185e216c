// Time spent on a screen: elapsed since it was painted, and active: in view, with no more than a minute idle at a time.

const IDLE = 60000;

export class Clock {
  constructor() {
    this.restart();
    for (const event of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      addEventListener(event, () => this.#mark(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#mark(true) : (this.since = performance.now())));
  }

  restart() {
    this.painted = this.since = performance.now();
    this.spent = 0;
  }

  #mark(leaving = false) {
    const now = performance.now();
    if (leaving || !document.hidden) this.spent += Math.min(Math.max(now - this.since, 0), IDLE);
    this.since = now;
  }

  read() {
    if (!document.hidden) this.#mark();
    const elapsed = Math.round(performance.now() - this.painted);
    return { elapsed, active: Math.min(Math.round(this.spent), elapsed) };
  }
}
