// Pick, edit or reject other ways of saying a sentence. Whoever picks another sentence takes it as it is; what they had
// written of the one before is there again when they come back to it.

import { diff, inWords, mark } from "./diff.js";
import { lineOf, one, set, unfit, wire, wordsOf, write } from "./edit-words.js";
import { digit, letter } from "./keys.js";
import { format, readOut, say } from "./say.js";

const REJECT = "reject";
const written = new WeakMap(); // screen's node → what was written, by place
const $ = (node, css) => node.querySelector(css);
const $$ = (node, css) => [...node.querySelectorAll(css)];
const parts = (node) => ({
  caption: $(node, "h1").textContent,
  other: $(node, ".other").textContent,
  answer: $(node, "[name=answer]:checked"),
  edit: $(node, "[name=edit]"),
  field: $(node, "[name=words]"),
});

function ready({ node }) {
  const { caption, other } = parts(node);
  mark($(node, ".other"), diff(caption, other), ["same", "new"]);
  for (const option of $$(node, ".edit-option:has(.diff)")) mark($(option, ".diff"), diff(caption, wordsOf(option)));
  written.set(node, new Map());
  wire(node, (event) => changed(node, event));
  open(node);
}

function changed(node, { type, target }) {
  const { edit, field } = parts(node);
  if (type === "filled") delete field.dataset.of;
  if (target.name === "answer" && edit.checked && field.dataset.of !== target.value) edit.checked = false;
  if (target === edit && edit.checked && !pickForEdit(node)) edit.checked = false;
  if (target === field) written.get(node).set(field.dataset.of, field.value);
  open(node);
  if (target === edit && edit.checked) write(field);
  if (target === field) readOut(() => inWords(diff(parts(node).caption, one(field.value))));
}

// Something is picked that can be edited; one sentence alone is picked by itself.
function pickForEdit(node) {
  const options = $$(node, ".edit-option input");
  if (options.length === 1) options[0].checked = true;
  const is = options.some((option) => option.checked);
  if (!is) say(gettext("First pick the sentence you want to edit."));
  return is;
}

// The editor, which holds words only while it is open, stands below the sentence that is edited.
function open(node) {
  const { answer, edit, field, caption } = parts(node);
  const editor = $(node, ".editor");
  const option = answer?.closest(".edit-option");
  editor.hidden = !(option && edit.checked);
  if (editor.hidden) {
    delete field.dataset.of;
    field.value = "";
    return;
  }
  if (editor.parentElement !== option) option.append(editor);
  const before = field.dataset.of === undefined && field.value; // of a draft, or of an earlier answer
  if (field.dataset.of !== answer.value && !before) field.value = written.get(node).get(answer.value) ?? wordsOf(option);
  field.dataset.of = answer.value;
  mark($(editor, ".diff"), diff(caption, one(field.value)));
}

function key(event, { node }) {
  const pressed = letter(event);
  const place = digit(event);
  const options = $$(node, ".edit-option input");
  if (place) return Boolean(options[place - 1]) && pick(options[place - 1]);
  if (event.shiftKey) return false;
  if (pressed === "e") return edit(node);
  if (pressed === "r") return reject(node);
  if (pressed === "z" || (pressed === " " && !event.target.closest("button, a, summary, input"))) return look(node);
  const line = parts(node).answer?.value === REJECT && lineOf(node, pressed);
  return Boolean(line) && tick(line);
}

function pick(option) {
  set(option);
  say(format(gettext("Sentence %(number)s picked"), { number: option.value }), true);
  return true;
}

function edit(node) {
  const { edit, field, answer } = parts(node);
  if (edit.checked && answer && answer.value !== REJECT) write(field);
  else set(edit);
  return true;
}

function reject(node) {
  const radio = $(node, `[value=${REJECT}]`);
  if (radio.checked) write($(node, "[name=why]"));
  else (set(radio), say(gettext("All rejected. Tick every problem."), true));
  return true;
}

function look(node) {
  const box = $(node, ".look");
  if (box) set(box, !box.checked);
  return Boolean(box);
}

function tick(line) {
  const box = $(line, "input");
  set(box, !box.checked);
  const words = box.checked ? gettext("Ticked: %(problem)s") : gettext("Not ticked: %(problem)s");
  say(format(words, { problem: box.parentElement.lastElementChild.textContent }), true);
  return true;
}

function lacks({ node }) {
  const { answer, edit, field, caption, other } = parts(node);
  if (!answer) return gettext("Pick a sentence, edit one (E) or reject all (R).");
  if (answer.value === REJECT) {
    const said = $(node, ".line input:checked") || one($(node, "[name=why]").value);
    return said ? "" : gettext("Tick every problem, or explain in your own words.");
  }
  if (!edit.checked) return "";
  const words = one(field.value);
  if (words === one(caption)) return gettext("Your version is the same as the sentence at the top.");
  if (words === one(other)) return gettext("Your version is the same as the sentence that it must not mean.");
  return unfit(words, gettext("Your version"));
}

export const paraphrase = { ready, key, lacks };
