// The screens of protocol files. What is answered one after the other is a unit (data-unit): a question, a statement of a
// check, or a thing to be ranked. Keys go to the marked one. A question with data-when comes after certain answers.

import { diff, inWords, mark as markChanges } from "./diff.js";
import { one as oneLine, write } from "./edit-words.js";
import { kinds } from "./forms.js";
import { digit, meant } from "./keys.js";
import { optionKey } from "./option-keys.js";
import { wordKey, wordsReady, wordsShow } from "./mark-words.js";
import { fieldIn, numbersReady, numbersShow, typeInto, valueIn } from "./numbers.js";
import { rank, ranksReady, ranksShow } from "./rank-rows.js";
import { format, readOut, say } from "./say.js";
import { nameOf } from "./screen.js";

// What a script for further kinds of questions does (marks.js).
const more = { ready() {}, show() {}, key() {}, done() {}, waits() {} };
export const extend = (kind) => Object.assign(more, kind);

const $$ = (node, css) => [...node.querySelectorAll(css)];
// In the order of the file: those that are pictures stand before the others on the page.
const questions = (node) => $$(node, ".asked").sort((one, other) => one.dataset.place - other.dataset.place);
const units = (node) =>
  questions(node).filter(({ hidden }) => !hidden).flatMap((asked) => (asked.matches("[data-unit]") ? [asked] : $$(asked, "[data-unit]").sort(inSight)));
const inSight = (one, other) => (one.style.order || 99) - (other.style.order || 99);
export const marked = (node) => node.querySelector("[data-unit][aria-current]");
const asked = (unit) => unit.closest(".asked");
const typedIn = (unit) => unit.querySelector("textarea");

function done(unit) {
  if (unit.dataset.kind === "words") return true;
  const number = fieldIn(unit);
  if (number && (number.value || !unit.querySelector("input:checked"))) return valueIn(number) !== "";
  const known = more.done(unit);
  if (known !== undefined) return known;
  const field = unit.querySelector("select, textarea");
  if ("to" in unit.dataset) return !wrongNumber(unit) && ticked(unit).length > 0;
  if (field) return field.matches("select") ? Boolean(field.value) : [...field.value.trim()].length >= (field.dataset.least || 1);
  return Boolean(unit.querySelector("input:checked"));
}

// Of a pick of many

const ticked = (unit) => [...unit.querySelectorAll("input:checked")];

// What is wrong with the number of options chosen, or "".
function wrongNumber(unit) {
  const least = Number(unit.dataset.from), most = Number(unit.dataset.to) || Infinity;
  const given = ticked(unit), chosen = given.length;
  if (!chosen || (chosen === 1 && given[0].matches("[data-apart]")) || (chosen >= least && chosen <= most)) return "";
  const number = chosen < least ? least : most;
  if (least === most) return format(gettext("Choose exactly %(number)s. You have chosen %(chosen)s."), { number, chosen });
  const words = chosen < least ? gettext("Choose at least %(number)s. You have chosen %(chosen)s.") : gettext("Choose at most %(number)s. You have chosen %(chosen)s.");
  return format(words, { number, chosen });
}

// Says beside the question how many are chosen.
function count(unit) {
  const { from, to } = unit.dataset;
  const chosen = ticked(unit).length;
  const line = unit.querySelector(".chosen");
  line.textContent = from === to ? format(gettext("%(chosen)s of %(number)s chosen"), { chosen, number: to }) : format(gettext("%(chosen)s chosen"), { chosen });
  line.classList.toggle("wrong", Boolean(to) && chosen > Number(to));
}

// What is chosen without others takes their ticks away, and they take its.
function keepApart({ checked, dataset, type }, unit) {
  if (!checked || type !== "checkbox") return;
  const others = ticked(unit).filter((one) => ("apart" in one.dataset) !== ("apart" in dataset));
  others.forEach((one) => (one.checked = false));
}

function ready({ node }) {
  node.addEventListener("filled", () => start(node));
  node.addEventListener("input", ({ target }) => (target.matches("textarea") ? changed(target) : target.matches("input.number") && show(node)));
  node.addEventListener("change", ({ target }) => {
    const unit = target.closest("[data-to]");
    if (unit) keepApart(target, unit);
    show(node);
  });
  for (const type of ["focusin", "pointerdown"]) node.addEventListener(type, ({ target }) => markAt(node, target));
  node.addEventListener("click", ({ target, detail }) => {
    if (!detail || !target.matches("input[data-keys]")) return; // the arrow keys' own
    node.querySelector("h1").focus({ preventScroll: true }); // where keys go on
    if (target.type === "radio") mark(node, next(node, target.closest("[data-unit]")));
  });
  $$(node, ".below .back").forEach((button) => {
    const field = typedIn(asked(button));
    button.addEventListener("click", () => (put(field, field.dataset.was), write(field)));
  });
  wordsReady(node);
  ranksReady(node);
  numbersReady(node, (event, field) => leave(event, node, field));
  more.ready(node);
  start(node);
}

// Enter in a number goes to the next question, or submits.
function leave(event, node, field) {
  event.preventDefault();
  node.querySelector("h1").focus({ preventScroll: true });
  if (!done(asked(field)) || units(node).every(done)) return field.form.requestSubmit(); // which says what is missing
  sayNext(node, asked(field), field.value);
}

function start(node) {
  show(node);
  mark(node, units(node).find((one) => !done(one) || more.waits(one)) ?? units(node)[0], false);
}

// What follows from the answers: which questions come, and what stands beside texts, words and ranks.
function show(node) {
  for (const one of questions(node)) if (one.dataset.when) one.hidden = !comes(node, JSON.parse(one.dataset.when));
  if (marked(node)?.closest("[hidden]")) mark(node, units(node)[0], false);
  $$(node, ".asked textarea").forEach(changed);
  $$(node, "[data-to]").forEach(count);
  wordsShow(node);
  ranksShow(node);
  numbersShow(node);
  more.show(node);
}

function comes(node, { all = {}, any = {} }) {
  const met = ([address, wanted]) => given(node, address).some((one) => wanted.includes(one));
  return Object.entries(all).every(met) && (!Object.keys(any).length || Object.entries(any).some(met));
}

// The values of an answer, or of one statement of it: "holds.same". None where it is not asked or not given.
function given(node, address) {
  const [name] = address.split(".");
  const one = questions(node).find((one) => one.dataset.name === name);
  if (one.hidden) return [];
  if ("to" in one.dataset) return ticked(one).map((input) => input.name.slice(name.length + 1));
  const number = fieldIn(one);
  if (number?.value) return [valueIn(number)];
  return [node.querySelector(`[name="${address.replace(".", "-")}"]:checked`)?.value ?? ""];
}

function changed(field) {
  const below = field.nextElementSibling;
  const typed = below.querySelector(".typed");
  typed.textContent = `${[...field.value.trim()].length} / ${typed.dataset.most}`;
  const { was } = field.dataset;
  if (was === undefined) return;
  const parts = diff(oneLine(was), oneLine(field.value));
  markChanges(below.querySelector(".diff"), oneLine(was) === oneLine(field.value) ? [] : parts);
  below.querySelector(".back").hidden = field.value === was;
  if (field === document.activeElement) readOut(() => inWords(parts));
}

function put(field, value) {
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function mark(node, unit, follow = true) {
  for (const one of $$(node, "[data-unit]")) one.removeAttribute("aria-current");
  unit?.setAttribute("aria-current", "true");
  if (follow) unit?.scrollIntoView({ block: "nearest" });
}

function markAt(node, target) {
  const unit = target.closest("[data-unit]");
  if (unit && unit !== marked(node)) mark(node, unit, false);
}

// The next after it that is not answered, else the next, if any.
function next(node, unit) {
  const all = units(node);
  const after = [...all.slice(all.indexOf(unit) + 1), ...all.slice(0, all.indexOf(unit))];
  return after.find((one) => !done(one)) ?? (all[all.indexOf(unit) + 1] || unit);
}

function key(event, { node }) {
  const place = digit(event);
  const unit = marked(node);
  if (wordKey(event, unit) || more.key(event, unit)) return true;
  const moved = optionKey(event, unit, units(node).length < 2);
  if (moved) return true;
  if (event.repeat) return moved === null;
  if ((event.shiftKey && place === null) || !unit) return false;
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (by) return (moved === null || !event.target.closest("input")) && !node.closest(".zoomed") && step(node, unit, by);
  if (unit.matches(".row")) return place > 0 && rank(unit, place) && sayNext(node, unit, place);
  const number = fieldIn(unit);
  if (number && !event.target.matches("input.number") && typeInto(event, number, place)) return true;
  const input = meant(event, unit.querySelectorAll("[data-keys]"));
  if (!input) return false;
  if (input.matches(".slider")) return input.focus(), true;
  if (input.matches("textarea, input.number")) return write(input), true;
  input.checked = input.type === "radio" || !input.checked;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  if (input.type === "checkbox" && !input.checked) return say(format(gettext("Not ticked: %(problem)s"), { problem: nameOf(input) }), true), true;
  return sayNext(node, unit, nameOf(input));
}

// Marks the unit above or below, and says which it is; the focus goes along where that is on one.
function step(node, unit, by) {
  const all = units(node);
  if (all.length < 2) return false;
  const there = all[(all.indexOf(unit) + by + all.length) % all.length];
  const focused = document.activeElement.closest("[data-unit]");
  mark(node, there);
  const target = there.querySelector("input:checked, textarea, input.number, select, .token [tabindex='0']") ?? there.querySelector("input:not([type=search])");
  if (focused && !typedIn(there)) target.focus();
  const input = there.querySelector("input:checked");
  const answer = input ? nameOf(input) : (there.querySelector("select") ?? fieldIn(there))?.value;
  say(`${called(there)} ${answer ? format(gettext("Answered: %(answer)s."), { answer }) : gettext("Not answered yet.")}`, true);
  return true;
}

const called = (unit) => unit.getAttribute("aria-label") ?? unit.querySelector("legend")?.textContent ?? unit.querySelector("select").ariaLabel;

// Says what was answered and what comes next; after one of several boxes, its question stays marked.
function sayNext(node, unit, answer) {
  const stays = unit.querySelector("input[type=checkbox]");
  const all = units(node);
  const there = stays ? unit : next(node, unit);
  const focused = document.activeElement.closest("[data-unit]");
  mark(node, there);
  if (focused && there !== unit) node.querySelector("h1").focus({ preventScroll: true });
  const open = all.find((one) => !done(one));
  const then = stays ? (unit.querySelector(".chosen")?.textContent ?? "") : open ? called(there) : gettext("Everything is answered. Press Enter to submit.");
  say(`${called(unit)} ${answer}. ${then}`.trim(), true);
  return true;
}

function lacks({ node }) {
  const open = units(node).find((one) => (asked(one).matches("[data-required]") && !done(one)) || ("to" in one.dataset && wrongNumber(one)));
  if (!open) return "";
  mark(node, open);
  const number = "to" in open.dataset && wrongNumber(open);
  if (number) return number;
  if (fieldIn(open)?.value) return fieldIn(open).dataset.advice;
  const field = typedIn(open);
  if (field?.value.trim()) return format(gettext("Write at least %(characters)s characters."), { characters: field.dataset.least });
  return format(gettext("Answer this question: %(question)s"), { question: called(open) });
}

kinds.declared = { ready, key, lacks };
