// The content of a figure's table: for the drawing, and as a CSV file.

function valueOf(cell) {
  const { value } = cell.dataset;
  if (value === undefined) return cell.textContent.trim();
  if (value === "") return null;
  return cell.classList.contains("number") ? Number(value) : value;
}

// { columns: [{ key, form, words }], rows: [{ key: value }], mark: { words, value } or null }. Text is a string, a number a
// number, a moment its ISO form; null is undefined.
export function read(figure) {
  const heads = [...figure.querySelectorAll("thead th")];
  const columns = heads.map((head) => ({ ...head.dataset, words: head.textContent.trim() }));
  const rows = [...figure.querySelectorAll("tbody tr")].map((row) =>
    Object.fromEntries([...row.cells].map((cell, place) => [columns[place].key, valueOf(cell)])));
  const mark = figure.querySelector("figcaption data");
  return { columns, rows, mark: mark && { words: mark.textContent.trim(), value: Number(mark.value) } };
}

const COLOURS = [
  "ink", "quiet", "line", "card", "wash", "warn", "accent", "accent-ink", "accent-soft", "dropped",
  "on-dropped", "low", "high",
];
const MIX = [1, 2, 3, 4, 5, 6, 7, 8].map((place) => `mix-${place}`);

// The colours around an element: the page's, or within .on-paper those of a sheet of paper.
export function look(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = Object.fromEntries(COLOURS.map((name) => [name, of(name)]));
  const font = style.fontFamily.replaceAll('"', "'"); // as an attribute of an SVG
  return { ...colours, mix: MIX.map(of), font };
}

// Spreadsheets run what begins like a formula; an apostrophe marks it as text, as in benchmarks/formats/csv_text.py.
// Numbers may stay.
const SIGNS = "=+@\\-−＝＋－＠﹢﹣﹦﹫⁺⁻⁼₊₋₌";
const UNSEEN = "(?:(?![\\t\\r\\n])[\\s\\x00-\\x1f\\x7f\\x85\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff])*";
const FORMULA = new RegExp(`(^|[;\\t\\r\\n])(?=${UNSEEN}[${SIGNS}])`, "g");

export function harmless(text) {
  const safe = text.replace(FORMULA, "$1'");
  return /^[\t\r\n]/.test(safe) ? `'${safe}` : safe;
}

export function safe(text) {
  const number = /^[-−]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  const cell = number ? text : harmless(text);
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function csv(figure) {
  const { columns } = read(figure);
  const written = [...figure.querySelectorAll("tbody tr")].map((row) =>
    [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent.trim()));
  return [columns.map(({ key }) => key), ...written].map((row) => `${row.map(safe).join(",")}\n`).join("");
}
