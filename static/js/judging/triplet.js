// Three sentences that can be changed, others that can stand in the third one's place, and what holds of them.

import { diff, inWords, mark } from "./diff.js";
import { lineOf, one, set, unfit, wire, wordsOf, write } from "./edit-words.js";
import { digit, letter } from "./keys.js";
import { format, readOut, say } from "./say.js";

const $ = (node, css) => node.querySelector(css);
const $$ = (node, css) => [...node.querySelectorAll(css)];
const letters = ["A", "B", "C"];
// What each is now made of: its own words, or those of another that was put in the place of the third.
const sentences = (node) =>
  $$(node, ".sentence").map((place, number) => {
    const field = $(place, "textarea");
    const was = one(place.dataset.was);
    const put = number === 2 && others(node).find(({ checked, value }) => checked && value);
    const called = format(gettext("Sentence %(letter)s"), { letter: letters[number] });
    return { place, field, was, called, base: put ? wordsOf(put.parentElement) : was, changed: one(field.value) !== was };
  });
const others = (node) => $$(node, "[name=use]");
const lines = (node) => $$(node, ".line").map((line) => $(line, "input:checked")?.value ?? "");

function ready({ node }) {
  wire(node, (event) => changed(node, event));
  $(node, ".all").addEventListener("click", () => allHold(node));
  sentences(node).forEach(({ place, field }, number) => {
    $(place, ".back").addEventListener("click", () => (fill(field, sentences(node)[number].base), write(field)));
  });
  show(node);
}

function changed(node, { type, target }) {
  if (type === "change" && target.name === "use") fill($(node, "[name=third]"), wordsAt(node, target));
  else if (type === "input" && target.name === "third") follow(node);
  show(node);
  if (target.matches("textarea") && target === document.activeElement) {
    const { base, called } = sentences(node).find(({ field }) => field === target);
    readOut(() => `${called}: ${inWords(diff(base, one(target.value)))}`);
  }
}

const wordsAt = (node, radio) => (radio.value ? wordsOf(radio.parentElement) : sentences(node)[2].was);

function fill(field, words) {
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// Which of the others the third sentence is, as soon as it has exactly its words.
function follow(node) {
  const words = one($(node, "[name=third]").value);
  const radio = others(node).find((radio) => words === wordsAt(node, radio));
  if (radio) radio.checked = true;
}

function show(node) {
  for (const { place, field, base } of sentences(node)) {
    const words = one(field.value);
    $(place, ".change").hidden = words === base;
    mark($(place, ".diff"), diff(base, words));
  }
  $(node, ".comes").textContent = comes(node);
}

// What Enter would say, or what it lacks.
function comes(node) {
  if (lines(node).includes("")) return "";
  const lack = lacks({ node });
  if (lack || $(node, "[name=drop]").checked) return lack || gettext("Submit to drop all three.");
  const changes = sentences(node).flatMap(({ changed }, number) => (changed ? letters[number] : []));
  return changes.length ? format(gettext("Submit to save your changes to %(letters)s."), { letters: changes.join(", ") }) : gettext("Submit to accept them as they are.");
}

function key(event, { node }) {
  const pressed = letter(event);
  const place = digit(event);
  const line = lineOf(node, pressed);
  if (place) return use(node, place);
  if (event.shiftKey) return false;
  if (pressed === "a") return allHold(node);
  if (pressed === "e") return write($(node, "[name=first]")), true;
  if (pressed === "d") return drop(node);
  return Boolean(line) && turn(line);
}

function use(node, place) {
  const radio = others(node).find(({ value }) => value === (place === "0" ? "" : place));
  if (!radio) return false;
  set(radio);
  say(place === "0" ? gettext("Original C") : format(gettext("Sentence %(number)s replaces C"), { number: place }), true);
  return true;
}

// Of what is dropped, a line that is broken stays so: all others hold.
function allHold(node) {
  const broken = $(node, "[name=drop]").checked ? $$(node, "[value=broken]:checked") : [];
  if (!broken.length) $(node, "[name=drop]").checked = false;
  for (const line of $$(node, ".line")) $(line, "[value=holds]").checked = true;
  for (const radio of broken) radio.checked = true;
  set($(node, ".line input:checked"));
  say(broken.length ? gettext("All other lines hold") : gettext("All lines hold"), true);
  return true;
}

function drop(node) {
  const box = $(node, "[name=drop]");
  set(box, !box.checked);
  say(box.checked ? gettext("Dropped. Mark what does not hold.") : gettext("Not dropped"), true);
  return true;
}

// Broken first: that all hold has a key of its own.
function turn(line) {
  const radio = $(line, $(line, "[value=broken]").checked ? "[value=holds]" : "[value=broken]");
  set(radio);
  const words = radio.value === "holds" ? gettext("Holds: %(line)s") : gettext("Broken: %(line)s");
  say(format(words, { line: line.getAttribute("aria-label") }), true);
  return true;
}

function lacks({ node }) {
  const said = lines(node);
  const broken = said.includes("broken");
  const dropped = $(node, "[name=drop]").checked;
  if (dropped && !broken) return gettext("Mark what does not hold before you drop them.");
  if (said.includes("")) return gettext("Mark every line as holds or broken (A: all hold).");
  if (dropped) return "";
  const stand = sentences(node);
  const wrong = stand.map(({ field, called, base }) => (one(field.value) === base ? "" : unfit(field.value, called))).find(Boolean);
  if (wrong) return wrong;
  if (new Set(stand.map(({ field }) => one(field.value))).size < 3) return gettext("Two of the sentences are identical. Change one of them, or drop all three.");
  return broken ? gettext("A line is broken. Correct the sentences until it holds, or drop all three (D).") : "";
}

export const triplet = { ready, key, lacks };
