/* The whole name of the model to score with, as the command and the API take it. */
"use strict";
const line = document.getElementById("whole");
const { form } = document.getElementById("id_model");

function show() {
  const kind = form.elements.kind.value;
  const name = form.elements.model.value.trim();
  const start = ["", "open_clip"].includes(kind) || name.startsWith(`${kind}:`) ? "" : `${kind}:`;
  line.hidden = !name && kind !== "trained";
  line.querySelector("code").textContent = kind === "trained" ? form.elements.trained.value : start + name;
}

// What stands in the field belongs to the kind that stands beside it.
const { model, kind } = form.elements;
const [first, start] = [kind.value, model.value];
form.addEventListener("change", ({ target }) => {
  if (target.name === "kind" && ["", start].includes(model.value)) model.value = kind.value === first ? start : "";
});

form.addEventListener("input", show);
show();
