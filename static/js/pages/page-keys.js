/* Keys of managers' pages: `/` goes to the search, N and P turn pages, and `?` lists those that work here. The desk of
   adjudicators has a list of its own, and keys that are switched off do nothing. */
import { isOff, letter, onKeyIn } from "../judging/keys.js";

const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const first = (css) => document.querySelector(`main ${css}`);
const KEYS = {
  "/": ["search", () => first("input[type=search]")],
  n: ["next page", () => first("a[rel=next]")],
  p: ["previous page", () => first("a[rel=prev]")],
};

function row(keys, does) {
  const [line, names, words] = ["div", "dt", "dd"].map((name) => document.createElement(name));
  for (const key of keys) names.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
  words.textContent = does;
  line.append(names, words);
  return line;
}

function list() {
  const dialog = Object.assign(document.createElement("dialog"), { className: "page-keys" });
  dialog.setAttribute("aria-labelledby", "page-keys-title");
  dialog.innerHTML = '<h2 id="page-keys-title">Keys</h2><dl></dl><form method="dialog"><button>Close</button></form>';
  const here = Object.entries(KEYS).filter(([, [, place]]) => place());
  const marked = [...document.querySelectorAll("main [aria-keyshortcuts]")];
  dialog.querySelector("dl").append(
    ...here.map(([key, [does]]) => row([key.toUpperCase()], does)),
    ...marked.map((one) => row(one.getAttribute("aria-keyshortcuts").split("+"), one.textContent.trim())),
    row(["?"], "this list"),
    row(["Esc"], "close it"),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

onKeyIn(document, (event) => {
  const { target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
  const off = isOff(event) || document.querySelector("dialog[open], #keys");
  if (off || defaultPrevented || event.repeat || ctrlKey || metaKey || altKey || target.closest(TYPING)) return;
  const pressed = letter(event);
  const place = KEYS[pressed]?.[1]();
  if (!place && !["?", "؟"].includes(pressed)) return;
  event.preventDefault();
  if (!place) list();
  else if (place.href) place.click();
  else place.select();
});
