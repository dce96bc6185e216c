// Practice: the keys and the layout of the judging screen. Everything works without this as a plain form.

import { onKey } from "./judge-keys.js";
import { fit } from "./judge-layout.js";
import { screenFrom } from "./judge-screen.js";

const desk = document.getElementById("desk");
const form = document.getElementById("screen");
const screen = screenFrom(document.querySelector("#place fieldset.screen"));
const told = Boolean(document.getElementById("told"));

function layout() {
  const before = desk.dataset.layout;
  fit(desk, screen.node);
  if (desk.dataset.layout === before) return;
  const focused = document.activeElement;
  screen.node.parentElement.append(screen.node); // put in anew: Chromium leaves pictures out that stood there before
  if (screen.node.contains(focused)) focused.focus({ preventScroll: true });
}

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

document.addEventListener("keydown", (event) => onKey(event, actions, screen));
addEventListener("resize", layout);
screen.node.replaceWith(screen.node); // as judging does: what came with the page, Chromium may leave without its pictures
layout();
desk.classList.add("ready");
if (!told) screen.node.querySelector("h1")?.focus({ preventScroll: true });
