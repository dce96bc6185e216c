// What stands in the field belongs to the kind that stands beside it.
"use strict";
const { model, kind } = document.getElementById("id_model").form.elements;
const [first, start] = [kind.value, model.value];
model.form.addEventListener("change", ({ target }) => {
  if (target.name === "kind" && ["", start].includes(model.value)) model.value = kind.value === first ? start : "";
});
