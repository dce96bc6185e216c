/* Keys of the adjudication page: digits and letters pick an answer and move to the reason, where Enter decides. */
"use strict";
const form = document.getElementById("decision");
const note = document.getElementById("note");

function typing(target) {
  return target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
}

document.addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const key = event.key.toLowerCase();
  for (const radio of form.querySelectorAll("input[name=verdict]")) {
    if (!radio.dataset.keys.split(" ").includes(key)) continue;
    event.preventDefault();
    radio.checked = true;
    (document.getElementById(radio.dataset.leads) ?? note).focus();
    return;
  }
});

// Typing picks "Your own words".
form?.addEventListener("input", ({ target }) => {
  const picks = target.dataset.picks;
  if (picks) form.querySelector(`input[name=verdict][value="${picks}"]`).checked = true;
});
