// Questions with more options than there are keys (data-long): the arrow keys go through all of them, Space or Enter
// chooses the one that has the focus, and / goes to the field that finds words among them.

import { onKeyIn } from "./keys.js";
import { format, readOut } from "./say.js";

const OPTION = "label > input:is([type=radio], [type=checkbox])";
const listed = (asked) => [...asked.querySelectorAll(OPTION)].filter((one) => one.checkVisibility());
const plain = (words) => words.normalize("NFKC").toLocaleLowerCase();

// Wires the fields up that find options.
export function optionsReady(node) {
  for (const field of node.querySelectorAll(".find input")) {
    const asked = field.closest(".asked");
    field.addEventListener("input", () => find(asked, field));
    onKeyIn(field, (event) => {
      if (event.key === "Escape") return (field.value = ""), find(asked, field); // and on to what leaves any field
      if (!["Enter", "ArrowDown"].includes(event.key) || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      listed(asked)[0]?.focus();
    });
  }
}

// Shows the options that have all the words, and those chosen.
function find(asked, field) {
  const words = plain(field.value).split(/\s+/).filter(Boolean);
  const options = [...asked.querySelectorAll(".sentences label")];
  const has = (label) => words.every((word) => plain(label.querySelector("[dir]").textContent).includes(word));
  for (const label of options) label.hidden = !has(label) && !label.querySelector("input").checked;
  const found = words.length ? format(gettext("%(found)s of %(all)s options"), { found: options.filter(has).length, all: options.length }) : "";
  field.closest(".find").querySelector(".found").textContent = found;
  if (found) readOut(() => found);
}

// Whether the key was for the options of this question; null where an arrow goes on to the question above or below.
export function optionKey(event, asked, alone) {
  if (!asked?.matches("[data-long]") || asked.closest(".zoomed")) return false;
  const own = '[data-keys~="/"]'; // an option that looks like the key has it
  const field = asked.querySelector(".find input");
  if (event.key === "/" && field && !asked.querySelector(own)) return field.focus(), true;
  const options = listed(asked);
  const at = options.indexOf(document.activeElement);
  if (event.key === "Enter" && at >= 0 && !options[at].checked) return options[at].click(), true;
  // Left and right look back unless an option has the focus; there the browser would choose what they come to.
  const by = { ArrowUp: -1, ArrowDown: 1, ...(at < 0 ? {} : { ArrowLeft: -1, ArrowRight: 1 }) }[event.key];
  if (!by || !options.length) return false;
  const next = at < 0 && by < 0 ? options.length - 1 : at + by;
  if (!alone && !options[next]) return null;
  const there = options[(next + options.length) % options.length];
  there.focus();
  there.scrollIntoView({ block: "nearest" });
  return true;
}
