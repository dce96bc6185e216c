// Practice: the keys, the layout and the rules of the judging screen. Everything works without this as a plain form.

import { onKey, onKeyIn } from "./keys.js";
import { fit } from "./layout.js";
import { sayHere } from "./say.js";
import { answerOf, focus, lacks, layOut, screenFrom } from "./screen.js";

const desk = document.getElementById("desk");
const form = document.getElementById("screen");
const screen = screenFrom(document.querySelector("#place fieldset.screen"));
const answered = Boolean(document.getElementById("feedback"));

const pick = (value) => {
  if (answered || !screen.painted) return;
  for (const radio of screen.node.querySelectorAll("input[name=answer]")) radio.checked = radio.value === value;
};
const submit = () => form.requestSubmit(form.querySelector("button.submit"));
const rules = () => document.querySelector(".walk a").click();
const nothing = () => {};
const zoom = { on: false, toggle: nothing, pan: () => false };
const actions = { pick, submit, rules, zoom, undo: nothing, skip: nothing, flag: nothing, back: nothing, forward: nothing, leave: nothing };

layOut(desk, screen);
onKeyIn(document, (event) => onKey(event, actions, screen));
form.addEventListener("submit", (event) => {
  const why = answered ? "" : screen.painted ? lacks(screen, answerOf(screen)) : document.getElementById("place").textContent;
  if (!why) return;
  event.preventDefault();
  sayHere(why);
});
addEventListener("resize", () => screen.painted && fit(desk, screen.node));
desk.classList.add("ready");
if (!answered) focus(screen);
