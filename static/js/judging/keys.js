// Which key does what. Keys never act while somebody types, with a foreign modifier, in a dialog or an open sheet.

import { kindOf } from "./forms.js";

const TYPING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=hidden])";
const PRESSING = "button, a[href], summary"; // Enter and Space belong to what has the focus

const PLAIN = { u: "undo", f: "flag", h: "rules" };
const ARROWS = { ArrowLeft: "back", ArrowRight: "forward" };

export function digit(event) {
  if (/^[0-9]$/.test(event.key)) return event.key;
  const place = /^(?:Digit|Numpad)([0-9])$/.exec(event.code); // AZERTY has digits behind Shift
  return place && !event.shiftKey && !event.key.startsWith("Arrow") ? place[1] : null;
}

function answerFor(event, screen) {
  if (!screen) return null;
  const number = digit(event);
  const key = number ?? event.key.toLowerCase();
  const radios = [...screen.node.querySelectorAll("input[name=answer]")];
  return radios.find(({ dataset, value }) => (dataset.keys ?? value).split(" ").includes(key))?.value ?? null;
}

export function onKey(event, actions, screen) {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  const act = (name, ...given) => {
    event.preventDefault();
    if (!event.repeat) actions[name](...given);
  };
  const { target, key } = event;
  if (key === "Escape") return act("leave");
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const send = target.closest?.(".sheet")?.querySelector("[type=submit], button:not([type])");
    if (send) return event.preventDefault(), event.repeat || send.click();
    if (target.closest?.("#place")) return act("submit");
  }
  if (target.closest?.(TYPING) || document.querySelector("details[open]")) return;
  const undo = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === "z";
  if (undo) return act("undo");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "?") return act("rules");
  if (event.shiftKey && key.toLowerCase() === "s") return act("skip");
  if (!event.repeat && kindOf(screen)?.key(event, screen)) return event.preventDefault();
  const answer = answerFor(event, screen);
  if (answer && (!event.shiftKey || digit(event))) return act("pick", answer);
  if (event.shiftKey) return;
  if (key === "Enter") return target.closest?.(PRESSING) ? event.repeat && event.preventDefault() : act("submit");
  if (key.toLowerCase() === "z" || (key === " " && !target.closest?.(`${PRESSING}, input`))) {
    event.preventDefault();
    const look = screen?.node.querySelector(".look:not(:checked)");
    return event.repeat || (look ? look.click() : actions.zoom.toggle());
  }
  if (actions.zoom.on && actions.zoom.pan(key)) return event.preventDefault();
  if (ARROWS[key] && !target.closest?.("input")) return act(ARROWS[key]);
  if (PLAIN[key.toLowerCase()]) return act(PLAIN[key.toLowerCase()]);
}
