// Pages that htmx keeps up to date: whatever the reader opened or scrolled stays as it is, a hidden page makes no

const CLOCK = { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false };
const DAY = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false };
const WEEK = 6 * 24 * 3600 * 1000;

const after = [];
let before = null;
let waiting = false;

export function inZone(moment) {
  return moment.toLocaleString("en-GB", Math.abs(moment - Date.now()) < WEEK ? CLOCK : DAY);
}

// `call` runs after new parts are in the page, before they are painted.
export function afterSwaps(call) {
  after.push(call);
}

function localise() {
  for (const time of document.querySelectorAll("time[data-local]")) {
    time.textContent = inZone(new Date(time.dateTime));
    time.removeAttribute("data-local");
  }
}

function note() {
  const opened = [...document.querySelectorAll("details[id]")].map(({ id, open }) => [id, open]);
  const boxes = [...document.querySelectorAll(".scroll[id]")];
  const scrolled = boxes.map(({ id, scrollLeft, scrollTop }) => [id, scrollLeft, scrollTop]);
  before = { opened, scrolled, x: scrollX, y: scrollY, focused: document.activeElement?.id };
}

function restore() {
  for (const [id, open] of before.opened) {
    const details = document.getElementById(id);
    if (details) details.open = open;
  }
  for (const call of after) call(); // a drawing has its height again
  for (const [id, left, top] of before.scrolled) {
    document.getElementById(id)?.scrollTo({ left, top, behavior: "instant" });
  }
  scrollTo({ left: before.x, top: before.y, behavior: "instant" });
  if (before.focused && document.activeElement === document.body) {
    document.getElementById(before.focused)?.focus({ preventScroll: true }); // htmx cannot, while a button is hidden
  }
}

function soon() {
  if (waiting || !before) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    localise();
    restore();
  });
}

localise();
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", note);
document.addEventListener("htmx:afterSwap", soon);
document.addEventListener("htmx:oobAfterSwap", soon);
