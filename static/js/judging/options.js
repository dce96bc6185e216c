// The field that finds words among the options of a question with more options than there are keys (data-long).

import { onKeyIn } from "./keys.js";
import { listed } from "./option-keys.js";
import { format, readOut } from "./say.js";

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
