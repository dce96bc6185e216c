// Which key does what. Keys never act while somebody types, with a foreign modifier, in a dialog or an open sheet;
// single ones can be switched off (config/appearance.py).

import { kindOf } from "./forms.js";
import { BACKWARD, FORWARD, optionKey } from "./option-keys.js";
import { ownsKey, videoKey } from "./videos.js";

const TYPING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=hidden], [type=range])";
const PRESSING = "button, a[href], summary"; // Enter and Space belong to what has the focus

const PLAIN = { u: "undo", f: "flag", h: "rules" };
const HELP = ["?", "؟", "？"]; // as Latin, Arabic and full-width layouts write it
const ARROWS = { [BACKWARD]: "back", [FORWARD]: "forward" };

// Every script hears of keys from here: those pressed while an input method composes a word are that method's. 229 is
// what some browsers send for its first and last.
export function onKeyIn(place, act, early = false) {
  place.addEventListener("keydown", (event) => event.isComposing || event.keyCode === 229 || act(event), early);
}

const OFF = "noKeys" in document.documentElement.dataset;

// Whether single keys are switched off and this is one: it types something, without Ctrl or the like.
export function isOff({ key, ctrlKey, metaKey, altKey }) {
  return OFF && !ctrlKey && !metaKey && !altKey && ([...key].length === 1 || UNNAMED.includes(key.toLowerCase()));
}

const DIGIT = /^\p{Nd}$/u; // of any script
const LATIN = /\p{Script=Latin}/u;
const UNNAMED = ["dead", "unidentified"]; // keys that type nothing by themselves, or of which the browser knows only the place
const SIGNS = ["/KeyQ", "'KeyW", ";KeyQ", ":KeyQ"]; // Hebrew and Greek layouts have a sign where others have a letter

const written = ({ key }) => key.normalize("NFKC").toLowerCase().replace("ς", "σ"); // full-width letters and digits are the usual ones

// The place of a key on a layout in which its character means nothing here. AltGr types another character of a layout.
const placeOf = (event, places) => (event.getModifierState("AltGraph") ? undefined : places.exec(event.code)?.[1].toLowerCase());

// The digit that a key types, or else the one whose place it has: AZERTY has digits behind Shift. null if it is no digit.
export function digit(event) {
  const key = written(event);
  if (DIGIT.test(key)) return String(valueOf(key.codePointAt(0)));
  const named = /^[a-z]{2,}\d*$/.test(key) && !UNNAMED.includes(key); // an arrow of the number pad
  return event.shiftKey || named ? null : (placeOf(event, /^(?:Digit|Numpad)([0-9])$/) ?? null);
}

// The digits of any script as 0 to 9.
export const toDigits = (text) => text.replace(/\p{Nd}/gu, (one) => valueOf(one.codePointAt(0)));

// Digits stand in the order of their values, in tens.
function valueOf(code) {
  let zero = code;
  while (code - zero < 10 && DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code < 128 ? code - 48 : (code - zero) % 10;
}

// The Latin letter of a key: the one that it types, or, where the layout has none (Cyrillic, Arabic, Greek, Hebrew …), the
// one whose place it has. Any other key by its own name, in lower case.
export function letter(event) {
  const key = written(event);
  const types = /^[\0-\x7f]*$/.test(key) && !UNNAMED.includes(key) && !SIGNS.includes(key + event.code);
  return types || (LATIN.test(key) && !UNNAMED.includes(key)) ? key : (placeOf(event, /^Key([A-Z])$/) ?? key);
}

// The one of these whose key it is. Labels may look like what a key types (looks_like in protocols/keys.py), so that comes
// first. The key's place only counts where none of them looks like that, and what two of them look like gives neither.
export function meant(event, those) {
  const having = (key) => [...those].filter(({ dataset, value }) => (dataset.keys ?? value).split(" ").includes(key));
  const typed = having(written(event));
  const found = typed.length ? typed : having(digit(event) ?? letter(event));
  return found.length === 1 ? found[0] : null;
}

const answerFor = (event, screen) => screen && meant(event, screen.node.querySelectorAll("input[name=answer]"))?.value;

export function onKey(event, actions, screen) {
  if (event.defaultPrevented || isOff(event) || document.querySelector("dialog[open]")) return;
  const act = (name, ...given) => {
    event.preventDefault();
    if (!event.repeat) actions[name](...given);
  };
  const { target, key } = event;
  const pressed = letter(event);
  if (key === "Escape") return act("leave");
  const typed = key === "Enter" && !event.shiftKey && target.matches?.(".sheet textarea"); // Shift+Enter begins a line
  if (typed || (key === "Enter" && (event.ctrlKey || event.metaKey))) {
    const send = target.closest?.(".sheet")?.querySelector("[type=submit], button:not([type])");
    if (send) return event.preventDefault(), event.repeat || send.click();
    if (target.closest?.("#place")) return act("submit");
  }
  if (target.closest?.(TYPING) || ownsKey(event) || document.querySelector("details[open]")) return;
  const undo = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && pressed === "z";
  if (undo) return act("undo");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (HELP.includes(key)) return act("rules");
  if (event.shiftKey && pressed === "s") return act("skip");
  const kind = kindOf(screen);
  if (screen && !kind && optionKey(event, screen.node.querySelector(".asked"), true)) return event.preventDefault();
  const goesOn = key.startsWith("Arrow") && target.closest?.("[data-long]"); // through many options
  if ((!event.repeat || goesOn) && kind?.key(event, screen)) return event.preventDefault();
  const answer = answerFor(event, screen);
  if (answer && (!event.shiftKey || digit(event))) return act("pick", answer);
  const presses = key === " " && target.closest?.(`${PRESSING}, input`);
  if (!presses && videoKey(event, screen)) return event.preventDefault();
  if (event.shiftKey) return;
  if (key === "Enter") return target.closest?.(PRESSING) ? event.repeat && event.preventDefault() : act("submit");
  if (pressed === "z" || (key === " " && !presses)) {
    event.preventDefault();
    const look = screen?.node.querySelector(".look:not(:checked)");
    return event.repeat || (look ? look.click() : actions.zoom.toggle());
  }
  if (actions.zoom.on && actions.zoom.pan(key)) return event.preventDefault();
  if (ARROWS[key] && !target.closest?.("input")) return act(ARROWS[key]);
  if (PLAIN[pressed]) return act(PLAIN[pressed]);
}
