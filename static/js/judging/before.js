// Practice: the keys and the layout of the judging screen. Everything works without this as a plain form.

import { onKey } from "./keys.js";
import { fit } from "./layout.js";
import { screenFrom } from "./screen.js";

const desk = document.getElementById("desk");
const form = document.getElementById("screen");
const screen = screenFrom(document.querySelector("#place fieldset.screen"));
const told = Boolean(document.getElementById("told"));

const layout = () => fit(desk, screen.node);

const pick = (value) => {
  if (told) return;
  for (const radio of screen.node.querySelectorAll("input[name=answer]")) radio.checked = radio.value === value;
};
const answered = () => told || screen.node.querySelector("input[name=answer]:checked");
const submit = () => answered() && form.requestSubmit(form.querySelector("button.submit"));
const rules = () => document.querySelector(".walk a").click();
const nothing = () => {};
const zoom = { on: false, toggle: nothing, pan: () => false };
const actions = { pick, submit, rules, zoom, undo: nothing, skip: nothing, flag: nothing, back: nothing, forward: nothing, leave: nothing };

layout(); // first: no key answers a screen that could not be laid out
document.addEventListener("keydown", (event) => onKey(event, actions, screen));
addEventListener("resize", layout);
desk.classList.add("ready");
if (!told) screen.node.querySelector("h1")?.focus({ preventScroll: true });
