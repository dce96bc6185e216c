// Two questions on one screen: a key answers the one that is marked, and marks the next.

import { kinds } from "./forms.js";
import { digit, meant } from "./keys.js";
import { format, say } from "./say.js";
import { nameOf } from "./screen.js";

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
  if (event.shiftKey && digit(event) === null) return false;
  const input = meant(event, marked(node).querySelectorAll("input"));
  if (input) return answer(node, input);
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by || event.target.closest("input")) return false;
  const question = next(node, marked(node), by);
  go(node, question);
  const radio = answered(question);
  const state = radio ? format(gettext("Answered: %(answer)s."), { answer: nameOf(radio) }) : gettext("Not answered yet.");
  say(`${asks(question)} ${state}`, true);
  return true;
}

function answer(node, radio) {
  const question = marked(node);
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  go(node, next(node, question));
  const open = questions(node).find((one) => !answered(one));
  say(`${asks(question)} ${nameOf(radio)}. ${open ? asks(open) : gettext("Both questions are answered. Press Enter to submit.")}`, true);
  return true;
}

function lacks({ node }) {
  const open = questions(node).find((one) => !answered(one));
  if (!open) return "";
  mark(node, open);
  return `${asks(open)} ${gettext("Pick sentence 1, sentence 2 or a tie.")}`;
}

kinds.compare = { ready, key, lacks };
