// Numbers on the screens of protocol files: a field in which they are typed, and of a scale a slider beside it. The field
// is what is sent, so that a slider nobody has touched has no value.

import { onKeyIn, toDigits } from "./keys.js";

const NUMBER = /^[+-]?(?=.?\d)\d*(?:([.,٫])\d+)?$/;
const THOUSANDS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/; // or a number with three decimals, if that is the language's sign

export const fieldIn = (unit) => unit?.querySelector("input.number") ?? null;
const slider = (field) => field.closest(".typing").querySelector(".slider");
const about = (field) => {
  const { least, most, step, sign } = field.closest(".typing").dataset;
  return { least: Number(least), most: Number(most), step: Number(step), sign };
};

// What is typed as a number, or NaN. The server has the last word (annotation/protocols/numbers.py).
function typed(field) {
  const text = toDigits(field.value.normalize("NFKC")).trim().replace("\u2212", "-");
  const [, sign] = NUMBER.exec(text) ?? [];
  if (!NUMBER.test(text) || (THOUSANDS.test(text) && sign !== about(field).sign)) return NaN;
  return Number(text.replace(/[,٫]/, "."));
}

// The number as it is stored, or "" if it is none of this answer's.
export function valueIn(field) {
  const number = typed(field), { least, most, step } = about(field);
  const steps = (number - least) / step;
  const fits = number >= least && number <= most && Math.abs(steps - Math.round(steps)) < 1e-6;
  return fits ? String(Number(number.toFixed(6))) : "";
}

function put(field, number) {
  const { least, most, step, sign } = about(field);
  const there = Math.min(most, Math.max(least, least + Math.round((number - least) / step) * step));
  field.value = String(Number(there.toFixed(6))).replace(".", sign);
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
}

export function numbersReady(node, leave) {
  for (const field of node.querySelectorAll("input.number")) {
    const range = slider(field);
    field.addEventListener("input", () => field.value && release(field));
    onKeyIn(field, (event) => move(event, field) || (event.key === "Enter" && !event.ctrlKey && !event.metaKey && leave(event, field)));
    if (!range) continue;
    const take = () => put(field, Number(range.value));
    range.addEventListener("input", take);
    range.addEventListener("click", () => field.value || take()); // in the middle, where it stands before
    onKeyIn(range, (event) => start(event, field, range));
  }
  for (const anchor of node.querySelectorAll("[data-at]")) anchor.style.setProperty("--at", anchor.dataset.at);
}

// The first arrow key sets the value at which the slider stands.
function start(event, field, range) {
  if (field.value || !event.key.startsWith("Arrow") || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  put(field, Number(range.value));
}

// In the field, arrows go by a step, and page keys by ten.
function move(event, field) {
  const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
  if (!by || event.ctrlKey || event.altKey || event.metaKey) return false;
  event.preventDefault();
  const { least, step } = about(field), now = typed(field);
  put(field, Number.isNaN(now) ? least : now + by * step);
  return true;
}

// A number stands for itself: what was ticked instead of it is not any more, and the other way round.
const ticked = (field) => field.closest(".asked").querySelectorAll("input[type=radio]");
const release = (field) => ticked(field).forEach((radio) => (radio.checked = false));

// What follows from the answers: where the slider stands, and that a fixed answer leaves no number.
export function numbersShow(node) {
  for (const field of node.querySelectorAll("input.number")) {
    if ([...ticked(field)].some(({ checked }) => checked)) field.value = "";
    const range = slider(field), value = valueIn(field);
    field.ariaInvalid = field.value !== "" && value === "" ? "true" : null;
    if (!range) continue;
    const { least, most } = about(field);
    range.value = value === "" ? (least + most) / 2 : value;
    range.classList.toggle("unset", value === "");
    const anchor = [...node.querySelectorAll("[data-point]")].find(({ dataset, parentNode }) => dataset.point === value && parentNode.parentNode === range.parentNode);
    range.ariaValueText = value === "" ? gettext("Not answered yet.") : [field.value, anchor?.lastElementChild.textContent].filter(Boolean).join(", ");
  }
}

// A digit, a sign or a decimal sign begins a number in the question that is marked.
export function typeInto(event, field, place) {
  const first = place ?? (/^[-\u2212.,]$/.test(event.key) ? event.key : "");
  if (!first || event.shiftKey) return false;
  field.focus();
  field.value = first;
  field.setSelectionRange(1, 1);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
}
