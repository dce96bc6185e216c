// What the screens share on which sentences are rewritten. The sentences here are those of the server, which has the
// last word: annotation/protocols/edits.py.

import { onKeyIn } from "./keys.js";
import { format } from "./say.js";

const LONGEST = 1000;

export const one = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
export const wordsOf = (node) => one(node.querySelector(".words").textContent);

// Why it cannot be sent, or "".
export function unfit(typed, called) {
  if (!one(typed)) return format(gettext("%(sentence)s is empty."), { sentence: called });
  return one(typed).length > LONGEST ? format(gettext("%(sentence)s is longer than 1,000 characters."), { sentence: called }) : "";
}

export function set(field, checked = true) {
  field.checked = checked;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

// The letter of a guideline → its line.
export function lineOf(node, letter) {
  return [...node.querySelectorAll(".line")].find(({ dataset }) => dataset.key === letter);
}

let pointed = false; // the last touch was by mouse or finger, not by key
addEventListener("pointerdown", () => (pointed = true), true);
onKeyIn(window, () => (pointed = false), true);

// `changed(event)` hears of everything that is filled in, before the draft is kept (so that its own changes are in it).
// Keys go on after a click on a box, and Enter leaves a field.
export function wire(node, changed) {
  for (const type of ["input", "change", "filled"]) node.addEventListener(type, changed, true);
  node.addEventListener("change", (event) => {
    if (pointed && event.target.matches("[type=checkbox], [type=radio]") && !node.contains(typing())) rest(node);
  });
  onKeyIn(node, (event) => {
    if (!event.target.matches("textarea") || event.key !== "Enter") return;
    if (!event.ctrlKey && !event.metaKey) event.preventDefault();
    rest(node); // also where it is to be submitted: leaving the field later would keep a draft of what is sent
  });
}

const typing = () => document.activeElement.closest("textarea");
const rest = (node) => node.querySelector("h1").focus({ preventScroll: true });

// At its end, where people go on writing.
export function write(field) {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
