// Points and boxes on a picture. A question's marks are the value of its one field, in ten-thousandths of the picture's
// width and height (protocols/marks.py): "1200:3400:hand,…", or "none". They are set and moved with the mouse, a finger or
// the arrow keys, and stand in a list beside the question.

import { extend, mark as current, marked } from "./declared.js";
import { letter, meant, onKeyIn } from "./keys.js";
import { format, say } from "./say.js";

const WHOLE = 10000;
const STEP = 25; // of an arrow key; with Shift, ten times that
const LEAST = 100; // sides of a box
const NEW = 1500; // half of a box that is set by key
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CORNERS = [[0, 1], [2, 1], [0, 3], [2, 3]]; // places of x and y among the numbers of a box
const clamp = (value, least = 0, most = WHOLE) => Math.round(Math.max(least, Math.min(most, value)));
const $$ = (node, css) => [...node.querySelectorAll(css)];
const make = (tag, names, ...inside) => {
  const made = Object.assign(document.createElement(tag), names);
  made.append(...inside);
  return made;
};

const known = new WeakMap(); // question → what is known of it
const asks = (node) => $$(node, '.asked:is([data-kind="points"], [data-kind="boxes"])');

class Marks {
  constructor(node, asked, tone) {
    const input = asked.querySelector(".coordinates");
    const size = asked.dataset.kind === "points" ? 2 : 4;
    const labels = $$(asked, ".label-mark");
    Object.assign(this, { node, asked, input, size, labels, tone, past: [], label: labels[0] });
    input.hidden = true;
    for (const one of labels) one.addEventListener("click", () => this.choose(one));
    asked.querySelector(".unmark").addEventListener("click", () => this.undo());
    onKeyIn(asked.querySelector(".marking-list"), (event) => undoes(event) && took(event) && this.undo());
  }

  get marks() {
    const { value } = this.input;
    const rows = value && value !== "none" ? value.split(",").map((one) => one.split(":")) : [];
    return rows.map((row) => ({ at: row.slice(0, this.size).map(Number), label: row[this.size] ?? "" }));
  }

  set marks(found) {
    this.past.push(this.input.value);
    this.put(found.map(({ at, label }) => [...at, ...(label ? [label] : [])].join(":")).join(","));
  }

  put(value) {
    this.input.value = value || (this.input.dataset.least === "0" ? "none" : "");
    this.input.dispatchEvent(new Event("change", { bubbles: true })); // which shows them, and keeps the draft
  }

  undo() {
    if (this.past.length) this.put(this.past.pop());
  }

  get done() {
    return this.input.value !== "" && this.marks.length >= this.input.dataset.least;
  }

  get isFull() {
    return this.marks.length >= this.input.dataset.most;
  }

  add(at) {
    this.marks = [...this.marks, { at, label: this.label?.dataset.value ?? "" }];
    return this.marks.length - 1;
  }

  change(place, at) {
    this.marks = this.marks.map((one, index) => (index === place ? { ...one, at } : one));
  }

  remove(place) {
    this.marks = this.marks.filter((_, index) => index !== place);
    say(gettext("Mark removed."), true);
  }

  // The label of the mark that has the focus, and of those to come.
  choose(button) {
    this.label = button;
    const { asked, place } = document.activeElement.dataset;
    const focused = asked === this.asked.dataset.name;
    if (focused) this.marks = this.marks.map((one, index) => (index === Number(place) ? { ...one, label: button.dataset.value } : one));
    else show(this.node);
    say(format(gettext("Label: %(label)s"), { label: nameOf(button) }), true);
  }

  toneOf(label) {
    return label ? this.labels.findIndex(({ dataset }) => dataset.value === label) + 1 : this.tone;
  }

  named({ at, label }, place) {
    const [x, y] = at.map((one) => (one / 100).toFixed(0));
    const words = format(gettext("Mark %(number)s, at %(x)s, %(y)s"), { number: place + 1, x, y });
    return label ? `${words}, ${nameOf(this.labels[this.toneOf(label) - 1])}` : words;
  }
}

const nameFor = (of, place) => `${of.asked.dataset.name} ${place}`;
const nameOf = (button) => button.querySelector("span").textContent;
const took = (event) => (event.preventDefault(), event.stopPropagation(), true);
const undoes = (event) => (event.ctrlKey || event.metaKey) && !event.shiftKey && letter(event) === "z";

// The part of the page on which a picture is marked: exactly over the picture, whatever its frame and the window.
class Layer {
  constructor(node, card, all) {
    const [left, top, width, height] = card.dataset.inside.split(" ").map(Number);
    const img = card.querySelector("img");
    const ratio = img.getAttribute("width") / img.getAttribute("height");
    Object.assign(this, { node, all, held: null, sizing: "" }); // sizing: the box whose size the arrow keys change
    this.area = make("div", { className: "marking", tabIndex: 0, role: "application" });
    this.area.setAttribute("aria-label", gettext("The picture: arrow keys go to a place, Enter sets a mark"));
    this.cursor = this.area.appendChild(make("span", { className: "cursor" }));
    this.at = [WHOLE / 2, WHOLE / 2];
    const fitted = make("div", { className: "fitted" }, this.area);
    fitted.style.setProperty("--ratio", ratio);
    Object.assign(this.area.style, { left: `${left * 100}%`, top: `${top * 100}%`, width: `${width * 100}%`, height: `${height * 100}%` });
    card.querySelector(".frame").append(make("div", { className: "over" }, fitted));
    card.classList.add("is-marked");
    const hears = { pointerdown: "press", pointermove: "drag", pointerup: "drop", pointercancel: "drop" };
    for (const [type, name] of Object.entries(hears)) this.area.addEventListener(type, (event) => this[name](event));
    this.area.addEventListener("click", (event) => event.stopPropagation()); // it would zoom
    this.area.addEventListener("focus", () => this.ask());
    onKeyIn(this.area, (event) => this.key(event) && took(event));
    this.moveCursor(0, 0);
  }

  // The question that is about this picture: the one that is marked, else the first.
  get of() {
    const asked = marked(this.node);
    return this.all.find((one) => one.asked === asked) ?? this.all.find((one) => !one.asked.hidden);
  }

  ask() {
    if (this.of && marked(this.node) !== this.of.asked) current(this.node, this.of.asked, false);
    return this.of;
  }

  placeOf(event) {
    const box = this.area.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WHOLE, ((event.clientY - box.top) / box.height) * WHOLE];
  }

  press(event) {
    if (event.button || this.held) return;
    const taken = event.target.closest(".mark");
    const of = taken ? known.get(this.all.find((one) => one.asked.dataset.name === taken.dataset.asked).asked) : this.ask();
    if (!of) return;
    event.stopPropagation();
    event.preventDefault();
    if (of.asked !== marked(this.node)) current(this.node, of.asked, false);
    const from = this.placeOf(event);
    if (!taken && of.isFull) return say(format(gettext("There can be at most %(count)s marks."), { count: of.input.dataset.most }));
    this.area.setPointerCapture(event.pointerId);
    const corner = event.target.closest(".corner");
    const place = taken ? Number(taken.dataset.place) : of.marks.length;
    const at = taken ? of.marks[place].at : of.size === 2 ? from.map((one) => clamp(one)) : [...from, ...from].map((one) => clamp(one));
    const element = taken ?? this.draw(of, { at, label: of.label?.dataset.value ?? "" }, place);
    const corners = corner ? CORNERS[corner.dataset.corner] : !taken && of.size === 4 ? [2, 3] : null;
    this.held = { of, place, at, now: at, from, corners, element, isNew: !taken, id: event.pointerId };
    element.focus({ preventScroll: true });
  }

  drag(event) {
    const { held } = this;
    if (held?.id !== event.pointerId) return;
    event.stopPropagation(); // the zoomed picture stays where it is
    const to = this.placeOf(event);
    held.now = shifted(held.at, to[0] - held.from[0], to[1] - held.from[1], held.corners);
    put(held.element, held.now);
  }

  drop(event) {
    const { held } = this;
    if (held?.id !== event.pointerId) return;
    event.stopPropagation();
    this.held = null;
    const { of, place, at, now, isNew } = held;
    const box = now.length === 4 ? upright(now) : now;
    const tooSmall = box.length === 4 && (box[2] - box[0] < LEAST || box[3] - box[1] < LEAST);
    if (event.type === "pointercancel" || tooSmall) {
      show(this.node);
      if (tooSmall && event.type !== "pointercancel") say(gettext("Drag from one corner of the box to the other."));
    } else if (isNew) of.add(box);
    else if (String(at) !== String(box)) of.change(place, box);
    this.focus(of, place);
  }

  focus(of, place) {
    this.area.querySelector(`.mark[data-asked="${of.asked.dataset.name}"][data-place="${place}"]`)?.focus({ preventScroll: true });
  }

  key(event) {
    const element = event.target.closest(".mark");
    const of = element ? this.all.find((one) => one.asked.dataset.name === element.dataset.asked) : this.ask();
    if (!of) return false;
    if (undoes(event)) return of.undo(), true;
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "Escape") return this.node.querySelector("h1").focus({ preventScroll: true }), true;
    const label = !event.shiftKey && meant(event, of.labels);
    if (label) return of.choose(label), true;
    const arrow = ARROWS[event.key]?.map((one) => one * STEP * (event.shiftKey ? 10 : 1));
    const sets = event.key === "Enter" || event.key === " ";
    if (element) return this.keyOnMark(event, of, element, arrow, sets);
    if (arrow) return this.moveCursor(...arrow), true;
    if (!sets || event.repeat) return sets;
    if (of.isFull) return say(format(gettext("There can be at most %(count)s marks."), { count: of.input.dataset.most })), true;
    const [x, y] = this.at;
    const place = of.add(of.size === 2 ? [x, y] : shifted([x, y, x, y], NEW, NEW, [2, 3]));
    if (of.size === 2) return say(of.named(of.marks[place], place), true), true;
    this.sizing = nameFor(of, place);
    this.focus(of, place);
    say(gettext("Arrow keys now change the size of the box. Enter ends that."), true);
    return true;
  }

  keyOnMark(event, of, element, arrow, sets) {
    const place = Number(element.dataset.place);
    const { at } = of.marks[place];
    if (event.key === "Delete" || event.key === "Backspace") {
      of.remove(place);
      this.area.focus({ preventScroll: true });
      return true;
    }
    if (sets && of.size === 4 && !this.sizing) {
      this.sizing = nameFor(of, place);
      say(gettext("Arrow keys now change the size of the box. Enter ends that."), true);
      return true;
    }
    if (sets) {
      this.sizing = "";
      this.node.querySelector("h1").focus({ preventScroll: true });
      return true;
    }
    if (!arrow) return false;
    const box = shifted(at, ...arrow, this.sizing && of.size === 4 ? [2, 3] : null);
    const tooSmall = box.length === 4 && (box[2] - box[0] < LEAST || box[3] - box[1] < LEAST);
    if (tooSmall || String(box) === String(at)) return true;
    of.change(place, box);
    this.focus(of, place);
    say(of.named(of.marks[place], place), true);
    return true;
  }

  moveCursor(dx, dy) {
    this.at = [clamp(this.at[0] + dx), clamp(this.at[1] + dy)];
    Object.assign(this.cursor.style, { left: `${this.at[0] / 100}%`, top: `${this.at[1] / 100}%` });
  }

  // All marks anew; the focus stays on the one that has it.
  show() {
    const { activeElement } = document;
    const { asked, place } = this.area.contains(activeElement) ? activeElement.dataset : {};
    $$(this.area, ".mark").forEach((one) => one.remove());
    for (const of of this.all) {
      if (!of.asked.hidden) of.marks.forEach((one, index) => this.draw(of, one, index));
    }
    if (asked) this.area.querySelector(`.mark[data-asked="${asked}"][data-place="${place}"]`)?.focus({ preventScroll: true });
  }

  draw(of, one, place) {
    const element = make("button", { type: "button", className: `mark ${of.size === 2 ? "point" : "box"}` }, make("b", { textContent: place + 1 }));
    Object.assign(element.dataset, { asked: of.asked.dataset.name, place, mark: of.toneOf(one.label) });
    element.setAttribute("aria-label", of.named(one, place));
    element.addEventListener("focus", () => this.sizing === nameFor(of, place) || (this.sizing = ""));
    if (of.size === 4) element.append(...CORNERS.map((_, corner) => Object.assign(make("i", { className: "corner" }), { ariaHidden: "true" })));
    $$(element, ".corner").forEach((corner, index) => (corner.dataset.corner = index));
    put(element, one.at);
    return this.area.appendChild(element);
  }
}

// The corner of these places, or all of it, moved and kept within the picture.
function shifted(at, dx, dy, corner) {
  if (corner) {
    const [x, y] = corner;
    return at.map((one, place) => (place === x ? clamp(one + dx) : place === y ? clamp(one + dy) : one));
  }
  const [left, top, right = left, bottom = top] = at;
  const x = Math.round(Math.max(-left, Math.min(WHOLE - right, dx)));
  const y = Math.round(Math.max(-top, Math.min(WHOLE - bottom, dy)));
  return at.map((one, place) => one + (place % 2 ? y : x));
}

const upright = ([left, top, right, bottom]) => [Math.min(left, right), Math.min(top, bottom), Math.max(left, right), Math.max(top, bottom)];

function put(element, at) {
  const [left, top, right, bottom] = at.length === 4 ? upright(at) : at;
  Object.assign(element.style, { left: `${left / 100}%`, top: `${top / 100}%` });
  if (at.length === 4) Object.assign(element.style, { width: `${(right - left) / 100}%`, height: `${(bottom - top) / 100}%` });
}

const layers = new WeakMap(); // screen's node → its layers

function ready(node) {
  const all = asks(node).map((asked, place) => {
    const one = new Marks(node, asked, (place % 4) + 1);
    known.set(asked, one);
    return one;
  });
  layers.set(node, $$(node, "[data-marked]").map((card) => new Layer(node, card, all.filter(({ input }) => input.dataset.on === card.dataset.marked))));
}

function show(node) {
  for (const layer of layers.get(node)) layer.held || layer.show();
  for (const asked of asks(node)) list(known.get(asked));
}

// What is marked, in words, with a button that takes each away.
function list(of) {
  const { asked, marks, labels, past } = of;
  const lines = marks.map((one, place) => {
    const remove = make("button", { type: "button", className: "remove", textContent: "×" });
    remove.setAttribute("aria-label", format(gettext("Remove mark %(number)s"), { number: place + 1 }));
    remove.addEventListener("click", () => {
      of.remove(place);
      (asked.querySelectorAll(".remove")[place] ?? asked.querySelector(".unmark")).focus();
    });
    const [x, y] = one.at.map((number) => (number / 100).toFixed(0));
    const words = one.label ? nameOf(labels[of.toneOf(one.label) - 1]) : `${x}, ${y}`;
    const line = make("li", {}, make("b", { textContent: place + 1 }), make("span", { textContent: words }), remove);
    line.dataset.mark = of.toneOf(one.label);
    return line;
  });
  asked.querySelector(".marked").replaceChildren(...lines);
  asked.querySelector(".none").hidden = marks.length > 0;
  asked.querySelector(".unmark").hidden = !past.length;
  for (const one of labels) one.ariaPressed = String(one === of.label);
}

function key(event, unit) {
  const of = unit && known.get(unit);
  if (!of || event.shiftKey) return false;
  const label = meant(event, of.labels);
  if (label) return of.choose(label), true;
  const layer = letter(event) === "m" && layers.get(of.node).find(({ all }) => all.includes(of));
  if (layer) layer.area.focus({ preventScroll: true });
  return Boolean(layer);
}

// Nothing marked is an answer, but not one to pass by.
const waits = (unit) => known.get(unit)?.input.value === "none" && !("answered" in known.get(unit).node.dataset);

extend({ ready, show, key, waits, done: (unit) => known.get(unit)?.done });
