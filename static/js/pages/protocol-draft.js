/* A draft of a protocol file: in the editor, line numbers, the Tab key and problems that lead to their lines; in the
   form, a preview that follows what is typed; in both, its width and what follows from answers. */
import { onKeyIn } from "../judging/keys.js";

const text = document.getElementById("id_text"); // none beside the form
const numbers = document.getElementById("numbers");
const state = document.getElementById("state");
const frame = document.getElementById("preview");
const answers = document.getElementById("answers");
let dirty = false; // there is something that is not saved
let sent = false;
let leaving = false; // Esc was pressed: Tab leaves the text

for (const one of document.querySelectorAll(".needs-script")) one.hidden = false;

// Line numbers, those with problems marked: behind the text, each line as tall as it is there, however it is wrapped

function number() {
  if (!text) return;
  const wrong = new Set([...state.querySelectorAll("[data-line]")].map((one) => Number(one.dataset.line)));
  numbers.replaceChildren(
    ...text.value.split("\n").map((words, place) => {
      const line = document.createElement("div");
      line.append(Object.assign(document.createElement("span"), { textContent: `${words}\u200b` }));
      if (wrong.has(place + 1)) line.className = "bad";
      return line;
    }),
  );
  align();
}

function show(line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] || "").length);
  text.scrollTop = Math.max(0, (numbers.children[line - 4]?.offsetTop ?? 0) - numbers.offsetTop);
}

const align = () => (numbers.scrollTop = text.scrollTop);
text?.addEventListener("scroll", align);
if (text) new ResizeObserver(align).observe(text);
document.getElementById("draft").addEventListener("input", () => {
  dirty = true;
  number();
  changed();
});
state.addEventListener("click", (event) => {
  const link = event.target.closest("[data-line]");
  if (!link) return;
  event.preventDefault();
  show(Number(link.dataset.line));
});

// Keys

const keys = (event) => {
  const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "Tab" && plain && !leaving) {
    event.preventDefault();
    document.execCommand("insertText", false, "  "); // keeps the browser's undo
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    document.getElementById("update").click();
  }
  leaving = event.key === "Escape" || (leaving && event.key === "Shift");
};
if (text) onKeyIn(text, keys);
text?.addEventListener("blur", () => (leaving = false));

// Saving as one types

const unsaved = document.getElementById("unsaved");
const say = document.getElementById("say");
document.body.addEventListener("htmx:afterRequest", (event) => (unsaved.hidden = event.detail.successful));
let seen = document.getElementById("draft-problems").dataset.seen;
document.body.addEventListener("htmx:afterSwap", () => {
  const found = document.getElementById("draft-problems").dataset;
  const count = Number(found.count);
  dirty = "refused" in found;
  number();
  text?.setAttribute("aria-invalid", String(count > 0));
  const words = count ? `${say.dataset.some} ${count}` : say.dataset.none;
  if (say.textContent !== words) say.textContent = words;
  if (!text && frame && found.seen !== seen) frame.contentWindow.location.reload();
  if (!text) stale.hidden = !dirty;
  seen = found.seen;
});

// The parts to choose from are those of the benchmark.
if (!text) document.getElementById("id_benchmark").addEventListener("change", () => document.getElementById("update").click());

document.getElementById("draft").addEventListener("submit", (event) => {
  if (sent) event.preventDefault(); // a second click
  sent = true;
});
window.addEventListener("pageshow", () => (sent = false));
window.addEventListener("beforeunload", (event) => dirty && !sent && event.preventDefault());

// The preview: at a desktop's or a phone's width, scaled to the place that there is

const stale = document.getElementById("stale");
const changed = () => (stale.hidden = !frame || !text);

function fit() {
  if (!frame) return;
  const width = Number(document.querySelector("[name=width]:checked").value);
  const place = frame.parentElement;
  place.classList.toggle("phone", width < 600);
  const scale = Math.min(1, place.clientWidth / width);
  const height = width < 600 ? 844 : 768;
  frame.style.width = `${width}px`;
  frame.style.height = `${height}px`;
  frame.style.transform = `scale(${scale})`;
  place.style.height = `${height * scale + 2}px`;
}

async function follow() {
  const found = await fetch(answers.dataset.from).catch(() => null); // no connection: it stays as it is
  if (found?.ok) answers.innerHTML = await found.text();
}

function watch() {
  const inside = frame.contentDocument;
  const done = inside?.getElementById("done");
  if (done) new MutationObserver(follow).observe(done, { childList: true, characterData: true, subtree: true });
  const chip = inside?.getElementById("chip"); // an answer that is saved again changes no count
  if (chip) new MutationObserver(follow).observe(chip, { attributes: true, attributeFilter: ["data-state"] });
  follow();
}

if (frame) {
  if (innerWidth < 600) document.querySelector("[name=width][value='390']").checked = true;
  for (const one of document.querySelectorAll("[name=width]")) one.addEventListener("change", fit);
  new ResizeObserver(fit).observe(frame.parentElement.parentElement);
  frame.addEventListener("load", watch);
  if (frame.contentDocument?.readyState === "complete") watch();
  fit();
}
number();

// What was typed before the scripts ran, or was restored by the browser, is saved too.
document.addEventListener("DOMContentLoaded", () => {
  if (text && text.value !== text.defaultValue) text.dispatchEvent(new Event("input", { bubbles: true }));
});
