// Words of a text that are marked: each is a button that goes through the marks. The arrow keys move from word to word
// once one has the focus, and a mark's key marks it.

import { meant } from "./keys.js";
import { say } from "./say.js";

const tokens = (asked) => [...asked.querySelectorAll(".token")];
const button = (token) => token.querySelector("button");
const list = (token) => token.querySelector("select");

export function wordsReady(node) {
  for (const asked of node.querySelectorAll('[data-kind="words"]')) {
    for (const [place, token] of tokens(asked).entries()) {
      const word = document.createElement("button");
      Object.assign(word, { type: "button", textContent: token.firstElementChild.textContent, tabIndex: place ? -1 : 0 });
      word.addEventListener("click", () => turn(token));
      word.addEventListener("focus", () => here(asked, token));
      token.append(word);
    }
  }
}

// As they are marked: the number of the mark for the style, its name for who listens.
export function wordsShow(node) {
  for (const token of node.querySelectorAll(".token")) {
    const { selectedIndex, options } = list(token);
    const word = button(token);
    if (selectedIndex > 0) word.dataset.mark = selectedIndex;
    else delete word.dataset.mark;
    const name = options[selectedIndex]?.textContent.trim();
    if (selectedIndex > 0) word.setAttribute("aria-label", `${word.textContent}: ${name}`);
    else word.removeAttribute("aria-label");
  }
}

function here(asked, token) {
  for (const one of tokens(asked)) button(one).tabIndex = one === token ? 0 : -1;
}

function turn(token) {
  const { options, selectedIndex } = list(token);
  set(token, (Math.max(selectedIndex, 0) + 1) % options.length);
}

function set(token, index) {
  const { options } = list(token);
  list(token).selectedIndex = index;
  list(token).dispatchEvent(new Event("change", { bubbles: true }));
  say(`${button(token).textContent}: ${index ? options[index].textContent.trim() : gettext("not marked")}`, true);
}

// Whether the key was for a word of the marked question.
export function wordKey(event, asked) {
  if (asked?.dataset.kind !== "words" || (event.key.startsWith("Arrow") && asked.closest(".zoomed"))) return false;
  const all = tokens(asked);
  const token = event.target.closest?.(".token");
  if (event.key === "Enter" && token) return asked.closest("form").requestSubmit(), true;
  const on = getComputedStyle(asked.querySelector(".tokens")).direction === "rtl" ? -1 : 1;
  const by = { ArrowRight: on, ArrowLeft: -on }[event.key];
  if (by && token) return button(all[Math.max(0, Math.min(all.length - 1, all.indexOf(token) + by))]).focus(), true;
  const now = token ?? all.find((one) => !button(one).tabIndex);
  if (event.key === "ArrowDown" && !token) return button(now).focus(), true;
  const found = meant(event, asked.querySelectorAll(".marks > [data-mark]"));
  if (!found || event.shiftKey) return false;
  button(now).focus();
  const index = Number(found.dataset.mark);
  set(now, list(now).selectedIndex === index ? 0 : index);
  return true;
}
