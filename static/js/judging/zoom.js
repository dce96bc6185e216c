// All pictures of a screen enlarged together about the same point: the mouse, a finger or the arrow keys move it; the
// wheel or two fingers enlarge them more or less. It opens where the pointer is, or else where it was last.

const STEP = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8] };
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

export class Zoom {
  constructor(desk, button) {
    Object.assign(this, { desk, button, on: false, scale: 2.5, x: 50, y: 50, fingers: new Map(), apart: 0, pointer: null });
    for (const type of ["pointermove", "pointerdown"]) desk.addEventListener(type, (event) => (this.pointer = event));
    desk.addEventListener("pointerleave", () => (this.pointer = null));
    desk.addEventListener("pointermove", (event) => this.on && this.#move(event));
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, ({ pointerId }) => this.#lift(pointerId));
    desk.addEventListener("wheel", (event) => this.on && this.#wheel(event), { passive: false });
  }

  toggle(on = !this.on) {
    if (on && !this.on && this.pointer) this.#follow(this.pointer);
    this.on = on;
    this.desk.classList.toggle("zoomed", on);
    this.button.setAttribute("aria-pressed", on);
    if (on) for (const img of this.desk.querySelectorAll("img[srcset]")) img.sizes = "400vw"; // a phone has a smaller copy
    this.#apply();
  }

  // Whether the key was an arrow that moved the point.
  pan(key) {
    const [dx, dy] = STEP[key] ?? [];
    if (dx === undefined) return false;
    this.pointer = null; // until it moves
    this.x = clamp(this.x + dx, 0, 100);
    this.y = clamp(this.y + dy, 0, 100);
    this.#apply();
    return true;
  }

  #move(event) {
    if (event.pointerType === "touch") this.fingers.set(event.pointerId, event);
    if (this.fingers.size < 2) return this.#follow(event);
    const [one, other] = this.fingers.values();
    const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    if (this.apart) this.#enlarge(apart / this.apart);
    this.apart = apart;
  }

  #lift(finger) {
    this.fingers.delete(finger);
    this.apart = 0;
  }

  #follow(event) {
    const card = document.elementFromPoint(event.clientX, event.clientY)?.closest(".card-place");
    if (!card) return;
    const box = card.getBoundingClientRect();
    this.x = clamp(((event.clientX - box.left) / box.width) * 100, 0, 100);
    this.y = clamp(((event.clientY - box.top) / box.height) * 100, 0, 100);
    this.#apply();
  }

  #wheel(event) {
    if (!event.target.closest?.(".card-place")) return;
    event.preventDefault();
    this.#enlarge(event.deltaY < 0 ? 1.15 : 1 / 1.15);
  }

  #enlarge(times) {
    this.scale = clamp(this.scale * times, 1.2, 8);
    this.#apply();
  }

  #apply() {
    this.desk.style.setProperty("--zoom", this.scale);
    this.desk.style.setProperty("--zx", `${this.x}%`);
    this.desk.style.setProperty("--zy", `${this.y}%`);
  }
}
