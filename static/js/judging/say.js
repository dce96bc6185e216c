// Words for the annotator: in sight for a moment, and read out by a screen reader (`quietly`: read out alone). What must
// not be missed goes to `tell`: it stays as long if the page is loaded again meanwhile.

// `format("%(n)s left", { n: 2 })`
export const format = (words, values) => interpolate(words, values, true);

const line = document.getElementById("say");
const KEPT = "winnow:told";
const MOMENT = 7000;
const PAUSE = 900; // without typing, before a summary is read out
let timer = 0;
let summary = 0;

export function say(text, quietly = false) {
  clearTimeout(timer);
  clearTimeout(summary);
  line.classList.toggle("quietly", quietly);
  delete line.dataset.here;
  line.textContent = text;
  timer = setTimeout(() => (line.textContent = ""), MOMENT);
}

// A summary of what is being typed, unless something else is said before: it may be of the screen before by then.
export function readOut(words) {
  clearTimeout(summary);
  summary = setTimeout(() => say(words(), true), PAUSE);
}

// What holds of the screen in front alone: `forgetHere` takes it away with that screen.
export function sayHere(text) {
  say(text);
  line.dataset.here = "";
}

export function forgetHere() {
  clearTimeout(summary);
  if ("here" in line.dataset) say("");
}

export function tell(text) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ text, until: Date.now() + MOMENT }));
  } catch {
    // no storage: then a reload cuts it short
  }
  say(text);
}

// Returns what was said just before this page came, or nothing; once.
export function kept() {
  try {
    const { text, until } = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    sessionStorage.removeItem(KEPT);
    return until > Date.now() ? text : "";
  } catch {
    return "";
  }
}
