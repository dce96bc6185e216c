/* Keys of the desk: digits and letters pick an answer and fill in the reason used last with such an answer, so that Enter
   decides. `/`, or Enter without a reason, goes to its field; until then, every letter is a key. S, or the arrow up in
   the field, fills in the last reason of all. */
import { isOff, letter, meant, onKeyIn } from "../judging/keys.js";
import { Zoom } from "../judging/zoom.js";

const $ = (id) => document.getElementById(id);
const form = $("decision");
const note = $("note");
const answer = $("answer"); // goes to the annotators' page
const sameReason = $("same-reason");
const reasons = JSON.parse($("reasons")?.textContent ?? "{}");
const press = { u: "undo", h: "blind" };
let filled = note?.value;

// Pictures

const pic = $("pic");
const zoom = pic && new Zoom(pic, $("zoom"));
if (zoom) {
  $("zoom").setAttribute("role", "button");
  zoom.toggle(false);
  pic.addEventListener("click", (event) => {
    if (!event.target.closest("#zoom, .still") || event.target.closest("video")) return;
    event.preventDefault(); // without script, the link shows the picture by itself
    zoom.toggle();
  });
}

// The reason

function fill(words) {
  note.value = filled = words;
}

// Without script, the link loads the page with the reason, but without the answer picked.
function repeatReason(event, from = sameReason) {
  event.preventDefault();
  fill(from.dataset.reason);
}

for (const chip of document.querySelectorAll("[data-reason]")) chip.addEventListener("click", (event) => repeatReason(event, chip));
if (note && sameReason) onKeyIn(note, (event) => event.key === "ArrowUp" && repeatReason(event));

function pick(radio) {
  radio.checked = true;
  suggest(radio);
  ($(radio.dataset.leads) ?? radio).focus();
}

// The reason last used with such an answer, unless something was typed.
function suggest({ dataset, value }) {
  if (note.value === filled && reasons[dataset.kind ?? value]) fill(reasons[dataset.kind ?? value]);
}

// Keys

const decide = () => (note.value ? $("decide").click() : note.focus());
const typing = (target) => target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");

onKeyIn(document, (event) => {
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (isOff(event) || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const pressed = letter(event);
  const radio = note && meant(event, form.querySelectorAll("input[name=verdict]"));
  const act = (done) => (event.preventDefault(), event.repeat || done());
  if (radio) act(() => pick(radio));
  else if (event.key === "Enter" && note && !event.target.closest("button, a, summary")) act(decide);
  else if (pressed === "s" && sameReason) repeatReason(event);
  else if (pressed === "/" && note) act(() => note.select());
  else if (answer && pressed === answer.dataset.key) act(() => answer.click());
  else if (press[pressed]) act(() => $(press[pressed])?.click());
  else if (pressed === "z" && zoom) act(() => zoom.toggle());
  else if (["?", "？", "؟"].includes(event.key)) act(() => ($("keys").open = !$("keys").open));
  else if (event.key === "Escape") $("keys").open = false, zoom?.toggle(false);
  else if (zoom?.on && zoom.pan(event.key)) event.preventDefault();
  else if (event.key === "ArrowRight" && !event.target.closest("input")) act(() => $("later")?.click());
});

// Typing picks "Your own words".
form.addEventListener("input", ({ target }) => {
  if (target.name === "verdict" && note) suggest(target);
  const picks = target.dataset.picks;
  if (picks) form.querySelector(`input[name=verdict][value="${picks}"]`).checked = true;
});

// Several at once

const all = $("all-alike");
if (all) {
  all.hidden = false;
  all.addEventListener("click", () => {
    for (const box of document.querySelectorAll("input[name=also]")) box.checked = true;
    count();
  });
}
if ($("decide")) addEventListener("change", count);

function count() {
  const more = document.querySelectorAll("input[name=also]:checked").length;
  $("decide").lastChild.textContent = more ? ` Decide ${more + 1}` : " Decide";
}
