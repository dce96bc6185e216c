// Dragging up and down with the mouse, a finger or a pen. `what(target)` is the thing that is taken there, if any;
// `over(x, y)` hears where it is, and nothing once it is let go; `drop(thing, x, y)` where it was left. `release()` puts
// back what is held.

const FAR = 6; // pixels before a press is a drag

export function drags(area, { what, over, drop }) {
  let held = null; // { thing, id, x, y, moving }
  const pulls = (event) => event.pointerId === held?.id;

  area.addEventListener("pointerdown", (event) => {
    const thing = what(event.target);
    if (!thing || event.button || held?.thing.hasPointerCapture(held.id)) return;
    held = { thing, id: event.pointerId, x: event.clientX, y: event.clientY, moving: false };
    thing.setPointerCapture(held.id);
  });
  area.addEventListener("pointermove", (event) => {
    if (!pulls(event)) return;
    held.moving ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > FAR;
    if (!held.moving) return;
    held.thing.classList.add("dragged");
    held.thing.style.translate = `0 ${event.clientY - held.y}px`;
    over(event.clientX, event.clientY);
  });
  area.addEventListener("pointerup", (event) => {
    if (!pulls(event)) return;
    const { thing, moving } = held;
    release();
    if (moving) drop(thing, event.clientX, event.clientY);
  });
  // A finger that drags makes no gesture besides: Chromium would take a tap soon after it for the end of a fling.
  area.addEventListener("touchmove", (event) => held?.moving && event.preventDefault(), { passive: false });
  for (const type of ["pointercancel", "lostpointercapture"]) area.addEventListener(type, (event) => pulls(event) && release());

  function release() {
    if (!held) return;
    const { thing } = held;
    held = null;
    thing.classList.remove("dragged");
    thing.style.translate = "";
    over();
  }
  return { release, get moving() { return Boolean(held?.moving); } };
}
