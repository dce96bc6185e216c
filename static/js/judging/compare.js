// Two questions on one screen: a key answers the one that is marked, and marks the next.

import { kinds } from "./forms.js";
import { digit, letter } from "./keys.js";
import { format, say } from "./say.js";

const ANSWERS = { 1: "1", 2: "2", 0: "tie", t: "tie" };
const questions = (node) => [...node.querySelectorAll(".compare-question")];
const answered = (question) => question.querySelector("input:checked");
const marked = (node) => node.querySelector(".compare-question[aria-current]");
const asks = (question) => question.getAttribute("aria-label");

function ready({ node }) {
  node.addEventListener("filled", () => start(node));
  node.addEventListener("focusin", ({ target }) => markAt(node, target));
  node.addEventListener("click", ({ target, detail }) => {
    if (!detail || !target.matches("input")) return;
    node.querySelector("h1").focus({ preventScroll: true }); // arrows mark again
    mark(node, next(node, target.closest(".compare-question")));
  });
  start(node);
}

const start = (node) => mark(node, questions(node).find((one) => !answered(one)) ?? questions(node)[0]);

function mark(node, question) {
  for (const one of questions(node)) one.removeAttribute("aria-current");
  question.setAttribute("aria-current", "true");
}

function markAt(node, target) {
  const question = target.closest(".compare-question");
  if (question) mark(node, question);
}

function next(node, question, by = 1) {
  const all = questions(node);
  return all[(all.indexOf(question) + by + all.length) % all.length];
}

// Marks it, and takes the focus along where that is on a question.
function go(node, question) {
  const focused = document.activeElement.closest(".compare-question");
  mark(node, question);
  if (focused) (answered(question) ?? question.querySelector("input")).focus();
}

function key(event, { node }) {
  const place = digit(event);
  if (event.shiftKey && place === null) return false;
  const value = ANSWERS[place ?? letter(event)];
  if (value) return answer(node, value);
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by || event.target.closest("input")) return false;
  const question = next(node, marked(node), by);
  go(node, question);
  const radio = answered(question);
  const state = radio ? format(gettext("Answered: %(answer)s."), { answer: words(radio) }) : gettext("Not answered yet.");
  say(`${asks(question)} ${state}`, true);
  return true;
}

const words = (radio) => radio.labels[0].textContent.replace(/^\s*\d/, "").trim();

function answer(node, value) {
  const question = marked(node);
  const radio = question.querySelector(`input[value="${value}"]`);
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  go(node, next(node, question));
  const open = questions(node).find((one) => !answered(one));
  say(`${asks(question)} ${words(radio)}. ${open ? asks(open) : gettext("Both questions are answered. Press Enter to submit.")}`, true);
  return true;
}

function lacks({ node }) {
  const open = questions(node).find((one) => !answered(one));
  if (!open) return "";
  mark(node, open);
  return `${asks(open)} ${gettext("Pick sentence 1, sentence 2 or a tie.")}`;
}

kinds.compare = { ready, key, lacks };
