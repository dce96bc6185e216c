// Time spent on a screen: elapsed since it was painted, and active: in view, with no more than a minute idle at a time. A
// video that plays is no idleness.

const IDLE = 60000;

export class Clock {
  constructor() {
    this.show(null);
    for (const event of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "timeupdate"]) {
      addEventListener(event, () => this.#mark(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#mark(true) : (this.since = performance.now())));
  }

  // Goes on where it was when this screen was in front before.
  show(screen) {
    if (this.screen) Object.assign(this.screen, { elapsed: this.read().elapsed, spent: this.spent });
    this.screen = screen;
    this.since = performance.now();
    this.painted = this.since - (screen?.elapsed ?? 0);
    this.spent = screen?.spent ?? 0;
  }

  // Its answer took the time along; whoever comes back to the screen begins at nothing.
  answered() {
    Object.assign(this.screen ?? {}, { elapsed: 0, spent: 0 });
    this.screen = null;
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
