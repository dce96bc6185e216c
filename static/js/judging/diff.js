// Word by word, what became of a sentence.

import { format } from "./say.js";

const WORDS = /\s*(?:[\p{L}\p{M}\p{N}'’-]+|\S)/gu;
const split = (text) => text.match(WORDS) ?? [];

// How many words two lists have in common, in order, from each pair of places on.
function common(was, is) {
  const table = Array.from({ length: was.length + 1 }, () => new Uint16Array(is.length + 1));
  for (let i = was.length - 1; i >= 0; i--)
    for (let j = is.length - 1; j >= 0; j--)
      table[i][j] = was[i].trim() === is[j].trim() ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  return table;
}

// [[kind, words]]: the words that are the `same`, `gone` or `new`, in the order of reading.
export function diff(before, after) {
  const [was, is] = [split(before), split(after)];
  const table = common(was, is);
  const parts = [];
  const add = (kind, word) => (parts.at(-1)?.[0] === kind ? parts.at(-1)[1].push(word) : parts.push([kind, [word]]));
  let [i, j] = [0, 0];
  while (i < was.length || j < is.length) {
    if (i < was.length && j < is.length && was[i].trim() === is[j].trim()) (i++, add("same", is[j++]));
    else if (j === is.length || (i < was.length && table[i + 1][j] >= table[i][j + 1])) add("gone", was[i++]);
    else add("new", is[j++]);
  }
  return parts;
}

const TAGS = { gone: "del", new: "ins" };

// `kinds` are those that are shown. Two marks side by side are kept apart.
export function mark(node, parts, kinds = ["same", "gone", "new"]) {
  const those = parts.filter(([kind]) => kinds.includes(kind));
  const marked = those.flatMap(([kind, words], place) => {
    const text = words.join("");
    if (kind === "same") return [text];
    const element = document.createElement(TAGS[kind]);
    element.textContent = text.trim();
    const apart = place && those[place - 1][0] !== "same" ? " " : "";
    return [text.match(/^\s*/)[0] || apart, element];
  });
  node.replaceChildren(...marked);
}

// What is read out of it: "2 words added, 1 word removed".
export function inWords(parts) {
  const count = (wanted) => parts.filter(([kind]) => kind === wanted).reduce((all, [, words]) => all + words.length, 0);
  const [fresh, gone] = [count("new"), count("gone")];
  if (!fresh && !gone) return gettext("no words changed");
  const words = [ngettext("%(n)s word added", "%(n)s words added", fresh), ngettext("%(n)s word removed", "%(n)s words removed", gone)];
  return words.map((one, place) => format(one, { n: [fresh, gone][place] })).join(", ");
}
