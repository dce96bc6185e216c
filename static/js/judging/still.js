// A screen that is only looked at, laid out as in judging.
import { fit } from "./layout.js";
import { screenFrom } from "./screen.js";

const desk = document.getElementById("desk");
const { node } = screenFrom(desk.querySelector("fieldset.screen"));
fit(desk, node);
desk.classList.add("ready");
