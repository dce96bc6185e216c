/* Keys of the adjudication page: digits and letters pick an answer and move to the reason, where Enter decides; S, or
   the arrow up in that field, fills in the last reason. */
import { letter, meant, onKeyIn } from "../judging/keys.js";

const form = document.getElementById("decision");
const note = document.getElementById("note");
const answer = document.getElementById("answer"); // goes to the annotators' page
const sameReason = document.getElementById("same-reason");

// Without script, the link loads the page with the reason, but without the answer picked.
function repeatReason(event) {
  event.preventDefault();
  note.value = sameReason.dataset.reason;
  if (form.querySelector("input[name=verdict]:checked")) note.focus();
}

sameReason?.addEventListener("click", repeatReason);
if (note && sameReason) onKeyIn(note, (event) => event.key === "ArrowUp" && repeatReason(event));

function typing(target) {
  return target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
}

onKeyIn(document, (event) => {
  if (!form || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const radio = meant(event, form.querySelectorAll("input[name=verdict]"));
  if (!radio) {
    if (letter(event) === "s" && sameReason) repeatReason(event);
    else if (letter(event) === answer?.dataset.key) event.preventDefault(), event.repeat || answer.click();
    return;
  }
  event.preventDefault();
  radio.checked = true;
  (document.getElementById(radio.dataset.leads) ?? note).focus();
});

// Typing picks "Your own words".
form?.addEventListener("input", ({ target }) => {
  const picks = target.dataset.picks;
  if (picks) form.querySelector(`input[name=verdict][value="${picks}"]`).checked = true;
});
