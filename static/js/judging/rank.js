// Sentences are put on steps: dragged there, with their buttons, or with a digit for the one that is marked. Where a
// sentence stands is which of its radio buttons is checked, and judge-rank.css shows it there.

import { drags } from "./drag.js";
import { kinds } from "./forms.js";
import { digit, letter, onKeyIn } from "./keys.js";
import { format, say } from "./say.js";

const STEPS = 3;
const nameOfStep = (step) => [pgettext("rank", "Best"), pgettext("rank", "Middle"), pgettext("rank", "Worst")][step - 1];
const NEAR = 24; // pixels beside the steps that still are the steps
const dragging = new WeakMap(); // screen's node → its drags
const $$ = (node, css) => [...node.querySelectorAll(css)];
const cards = (node) => $$(node, ".rank-option");
const nameOf = (card) => card.dataset.letter;
const stepOf = (card) => Number(card.querySelector("input:checked")?.value ?? 0);
const unplaced = (node) => cards(node).filter((card) => !stepOf(card));

// As they stand in sight, top first.
const seen = (node) => cards(node).sort((one, other) => stepOf(one) - stepOf(other));

function ready({ node }) {
  dragging.set(node, drags(node, {
    what: (target) => (target.closest(".put") ? null : target.closest(".rank-option")),
    over: (x, y) => $$(node, ".step").forEach((step) => step.classList.toggle("over", step === stepAt(node, x, y))),
    drop(card, x, y) {
      const step = stepAt(node, x, y);
      if (!step) return;
      put(card, step.dataset.step);
      mark(node, open(node, card) ?? card);
    },
  }));
  node.addEventListener("change", () => tell(node));
  node.addEventListener("filled", () => start(node));
  for (const type of ["pointerdown", "focusin"]) node.addEventListener(type, ({ target }) => markAt(node, target));
  node.addEventListener("click", ({ target, detail }) => {
    if (!detail || !target.matches("input")) return; // the arrow keys' own
    node.querySelector("h1").focus({ preventScroll: true }); // where arrow keys mark
    mark(node, open(node, target.closest(".rank-option")) ?? marked(node));
  });
  start(node);
}

function start(node) {
  mark(node, unplaced(node)[0] ?? cards(node)[0]);
  tell(node);
}

// The order in words, for who reads and for who listens.
function tell(node) {
  const left = unplaced(node).map(nameOf);
  node.querySelector(".order").textContent = left.length ? partly(node, left) : order(node);
}

function partly(node, left) {
  const put = cards(node).filter(stepOf).map((card) => `${nameOf(card)}: ${nameOfStep(stepOf(card))}.`);
  return [...put, format(gettext("Not ranked yet: %(sentences)s."), { sentences: left.join(", ") })].join(" ");
}

function order(node) {
  const tiers = [1, 2, 3].map((step) => cards(node).filter((card) => stepOf(card) === step).map(nameOf));
  return format(gettext("Your order: %(order)s"), { order: tiers.filter((tier) => tier.length).map((tier) => tier.join(" = ")).join(" > ") });
}

// The step whose part of the screen has this point, or none.
function stepAt(node, x, y) {
  const box = node.querySelector(".rank").getBoundingClientRect();
  if (!(x > box.left - NEAR && x < box.right + NEAR && y < box.bottom + NEAR)) return undefined;
  return $$(node, ".step").findLast((step) => step.getBoundingClientRect().top <= y);
}

function put(card, step) {
  const radio = card.querySelector(`input[value="${step}"]`);
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
}

function mark(node, card) {
  for (const one of cards(node)) one.removeAttribute("aria-current");
  card.setAttribute("aria-current", "true");
}

function markAt(node, target) {
  const card = target.closest(".rank-option");
  if (card) mark(node, card);
}

const marked = (node) => node.querySelector(".rank-option[aria-current]");

// The keyboard's: marks it, says which it is, and takes the focus along where that is on a sentence's buttons.
function go(node, card) {
  const focused = document.activeElement.closest(".put");
  mark(node, card);
  if (focused) (card.querySelector("input:checked") ?? card.querySelector("input")).focus();
  else say([card.getAttribute("aria-label"), gettext("Marked."), stepOf(card) ? `${nameOfStep(stepOf(card))}.` : ""].join(" ").trim(), true);
  card.scrollIntoView({ block: "nearest" });
  return true;
}

function key(event, { node }) {
  if (dragging.get(node).moving) return true;
  const step = digit(event);
  if (step >= 1 && step <= STEPS) return take(node, step);
  if (event.shiftKey) return false;
  const called = cards(node).find((card) => nameOf(card).toLowerCase() === letter(event));
  if (called) return go(node, called);
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by || event.target.closest("input") || node.closest(".zoomed")) return false;
  const all = seen(node);
  return go(node, all[(all.indexOf(marked(node)) + by + all.length) % all.length]);
}

// The marked sentence goes onto a step, and the next that is on none is marked, or the next.
function take(node, step) {
  const card = marked(node);
  put(card, step);
  return go(node, open(node, card) ?? after(node, card)[0]);
}

function after(node, card) {
  const all = cards(node);
  return [...all.slice(all.indexOf(card) + 1), ...all];
}

// The next after it that is on no step.
const open = (node, card) => after(node, card).find((one) => !stepOf(one));

function lacks({ node }) {
  const [first] = unplaced(node);
  if (!first) return "";
  mark(node, first);
  return format(gettext("Rank sentence %(letter)s: 1 (best), 2 or 3 (worst)."), { letter: nameOf(first) });
}

onKeyIn(window, (event) => {
  const node = document.querySelector('#place [data-form="rank"]');
  if (event.key === "Escape" && node) dragging.get(node)?.release();
}, true);

kinds.rank = { ready, key, lacks };
