// The judging screen: what keys, clicks and the passing of time do. desk.js holds the screens, send.js what
// is done with them, past.js looks back.

import { $, closeSheets, desk, goOn, have, home, next, hasRoom, now, outbox, progress, shown, sync, zoom } from "./desk.js";
import { kindOf, sweep } from "./forms.js";
import { onKey, onKeyIn } from "./keys.js";
import { fit } from "./layout.js";
import { post, showChip } from "./outbox.js";
import { back, forward } from "./past.js";
import { kept, say } from "./say.js";
import { focus, parse, screenFrom } from "./screen.js";
import { autoAdvance, cannot, flag, pick, skip, submit, undo } from "./send.js";

// Sheets and the rules

function openSheet(name) {
  closeSheets();
  $(name).open = true;
  $(name).querySelector("textarea").focus(); // at once, so that no letter is lost
}

for (const sheet of document.querySelectorAll("details")) {
  sheet.querySelector("summary").addEventListener("click", (event) => {
    event.preventDefault(); // the browser would open it a moment later, and the first letters would be keys
    if (sheet.open) leave();
    else openSheet(sheet.id);
  });
  sheet.querySelector(".close").addEventListener("click", leave);
}

function leave() {
  closeSheets();
  zoom.toggle(false);
  // Also of what stands in for a screen: a field of a closed sheet would take the next key.
  $("place").querySelector("h1")?.focus({ preventScroll: true });
}

const rules = () => $("rules-dialog").showModal();

// Keys and clicks

const actions = { pick, submit, undo, skip, back, forward, leave, rules, zoom, flag: () => $("flag") && openSheet("flag") };
onKeyIn(document, (event) => onKey(event, actions, shown()));
$("screen").addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (button?.name === "cannot_judge") cannot();
  else if (button?.id === "skip") skip();
  else if (button?.formAction.endsWith("/flag/")) flag();
  else submit();
});
$("undo-form").addEventListener("submit", (event) => (event.preventDefault(), undo()));
$("rules").addEventListener("click", (event) => (event.preventDefault(), rules()));
$("rules-dialog").addEventListener("close", () => {
  // The event comes a moment after the dialog has gone; the next key may have opened a sheet by then.
  if (!document.querySelector("details[open]")) leave();
});
$("zoom").addEventListener("click", () => zoom.toggle());
$("back").addEventListener("click", back);
$("return").addEventListener("click", goOn);

let pointed = false; // the last touch was by mouse or finger, not by key
addEventListener("pointerdown", () => (pointed = true), true);
onKeyIn(window, () => (pointed = false), true);
$("place").addEventListener("change", ({ target }) => {
  if (target.matches(".look")) return fit(desk, shown().node); // there is another picture now
  if (!pointed || kindOf(shown())) return;
  focus(shown()); // so that arrow keys walk, and do not re-pick
  autoAdvance();
});
$("place").addEventListener("click", (event) => {
  if (event.target.matches("video")) return event.detail && focus(shown()); // the player has had its click; keys go on here
  const card = event.target.closest(".card-place");
  if (!card || event.target.closest(".broken")) return;
  if (zoom.on || card.matches(".still")) { event.preventDefault(); zoom.toggle(); }
});
addEventListener("resize", () => shown() && fit(desk, shown().node));

// Time

const awake = () => document.visibilityState === "visible";
async function renew() {
  if (!awake()) return;
  try {
    const { held } = await post(`${home}renew/`, {});
    if (held < have().filter((lease) => !outbox.has(lease)).length) sync();
  } catch {
    // the outbox tells of a lost connection as soon as it matters
  }
}
setInterval(renew, (Number(desk.dataset.leaseSeconds) / 3) * 1000);
document.addEventListener("visibilitychange", () => awake() && outbox.flush().then((sent) => sent && sync()));
addEventListener("storage", () => progress());
addEventListener("pageshow", (event) => event.persisted && sync());

// Without a connection, the browser shows a page of ours; only over https or from this machine. The pictures come first.
const keepOffline = () => desk.dataset.worker && navigator.serviceWorker?.register(desk.dataset.worker, { scope: home }).catch(() => {});
if (document.readyState === "complete") keepOffline();
else addEventListener("load", keepOffline);

// Start: answers that are still on their way are sent first, and their screens are not shown again.

const given = [$("place").firstElementChild, ...[...document.querySelectorAll("template.next")].map((one) => parse(one.innerHTML))];
const unanswered = ({ lease }) => !outbox.entries().some((entry) => entry.lease === lease && !entry.edit);
showChip($("chip"), now.done ? "saved" : "");
now.queue = given.map((node) => screenFrom(node)).filter(unanswered);
sweep(now.queue.map(({ lease }) => lease));
next();
const before = kept();
if (before) say(before);
outbox.flush().then((sent) => sent && now.queue.length && hasRoom() && sync());
