// The judging screen. What is on it is one `screen` (judge-screen.js). `current` is to be answered, `queue` holds
// those fetched ahead with their pictures decoded, `past` those answered, oldest first. After Enter the answer goes to
// the outbox, the next screen is painted at once, and only then the network is used.

import { Clock } from "./judge-clock.js";
import { onKey } from "./judge-keys.js";
import { fit } from "./judge-layout.js";
import { deliver, get, newKey, Outbox, post, showChip } from "./judge-outbox.js";
import { say } from "./judge-say.js";
import { decode, focus, parse, pause, picked, radios, restore, screenFrom } from "./judge-screen.js";
import { Zoom } from "./judge-zoom.js";

const $ = (id) => document.getElementById(id);
const desk = $("desk");
const form = $("screen");
const { token, home } = desk.dataset;
const total = Number(desk.dataset.total);
const clock = new Clock();
const zoom = new Zoom(desk, $("zoom"));
const past = [];
let queue = [];
let current = null;
let looking = null; // a screen of `past`, while looking back
let done = Number(desk.dataset.done); // as the server last said
let pace = Number(desk.dataset.pace);
let undoKey = newKey();
let advance = 0;
let allPast = false; // the server's history was fetched

// Screens

const knows = (lease) => current?.lease === lease || queue.some((screen) => screen.lease === lease) || outbox.has(lease);
const have = () => [current, ...queue].filter(Boolean).map((screen) => screen.lease);

function paint(screen) {
  clearTimeout(advance);
  closeSheets();
  zoom.toggle(false);
  const node = screen?.node ?? pause();
  if (screen) fit(desk, node);
  $("place").replaceChildren(node);
  desk.classList.add("ready");
  clock.show(screen);
  progress();
  focus(screen);
  if (innerWidth < 900) scrollTo(0, 0);
  banner();
}

function next() {
  current = queue.shift() ?? null;
  paint(current);
}

const shown = () => looking ?? current;

function pick(value) {
  const radio = shown() && radios(shown()).find((radio) => radio.value === value);
  if (!radio) return;
  radio.checked = true;
  say(`${radio.closest("label").querySelector("img")?.alt ?? radio.closest("label").innerText} picked`, true);
  autoAdvance();
}

function autoAdvance() {
  clearTimeout(advance);
  if ("autoAdvance" in desk.dataset && !looking) advance = setTimeout(() => submit(), 350);
}

// Progress and time left, from the annotator's own pace.

const fresh = () => outbox.entries().filter((entry) => !entry.edit).length;

function progress() {
  const answered = Math.min(done + fresh(), total);
  $("done").textContent = answered;
  $("bar").value = answered;
  const minutes = Math.ceil(((total - answered) * pace) / 60000);
  $("left").textContent = pace && answered < total ? `about ${minutes} min left` : "";
  document.title = document.title.replace(/^\d+/, answered);
}

// Sending

const outbox = new Outbox(token, {
  deliver: (entry) => deliver(home, entry, have()),
  settled(json) {
    if (json.refused) say(`An answer was not taken: ${json.refused}`);
    if (json.receipt === "surplus") {
      say("That screen had been passed on to somebody else. Your answer is kept, but does not count. Nothing to do for you.");
    }
    if (!json.refused) take(json);
  },
  changed(state, count) {
    const before = $("chip").dataset.state;
    showChip($("chip"), state, count);
    if (state === "unsaved" && before !== "unsaved") say("Not saved yet. Your answers are kept on this device and sent again.");
    if (state === "saved" && before === "unsaved") say("All answers are saved.");
    if (state === "saved" && !current) sync();
  },
});

// What the server says is held now.
function take(json) {
  done = json.done;
  for (const { lease, html } of json.screens ?? []) {
    if (knows(lease)) continue;
    const screen = screenFrom(parse(html));
    decode(screen);
    queue.push(screen);
  }
  if (!current && queue.length && !looking) next();
  else progress();
  const ended = json.state !== "screen" && (json.state === "rules" || !current);
  if (ended && !looking && !outbox.entries().length) location.reload();
}

let syncing = null;
function sync() {
  const asked = new URLSearchParams(have().map((lease) => ["have", lease]));
  syncing ??= get(`${home}?${asked}`)
    .then((json) => {
      if (!outbox.entries().length && json.state === "screen") dropLost(json.held);
      take(json);
    })
    .catch(() => setTimeout(() => !current && sync(), 3000))
    .finally(() => (syncing = null));
  return syncing;
}

// A screen that ran out while the page slept is somebody else's now.
function dropLost(held) {
  queue = queue.filter((screen) => held.includes(screen.lease));
  if (!current || looking || held.includes(current.lease)) return;
  say("You were away for long, so that screen was passed on to somebody else.");
  current = null;
}

function submit(answer = shown() && picked(shown()), reason = "") {
  clearTimeout(advance);
  const screen = shown();
  if (!screen) return;
  if (!answer) return say("Pick an answer first.");
  const edit = Boolean(looking);
  if (edit && answer === looking.answer && !reason) return present();
  const { elapsed, active } = clock.read();
  clock.answered();
  outbox.add({ key: newKey(), at: Date.now(), lease: screen.lease, answer, reason, active, elapsed, edit });
  screen.answer = answer;
  if (edit) present();
  else {
    pace = pace ? pace * 0.9 + active * 0.1 : active;
    past.push(screen);
    next();
  }
  outbox.flush();
}

async function skip() {
  if (looking) return say("Return to the present first: Right arrow.");
  const screen = current;
  if (!screen) return;
  clearTimeout(advance);
  try {
    const json = await post(`${home}skip/`, { lease: screen.lease, have: have() });
    if (current === screen) current = null;
    take(json);
    if (!current && queue.length) next();
    say("Skipped; somebody else will judge it.");
  } catch {
    say("Not skipped: there is no connection just now. Try again in a moment.");
  }
}

async function undo() {
  present();
  clearTimeout(advance);
  const last = outbox.entries().at(-1);
  if (last && !outbox.tried.has(last.key) && past.at(-1)?.lease === last.lease) {
    outbox.remove(last.key);
    return again(past.at(-1));
  }
  if (!(await outbox.flush())) return say("That cannot be taken back before the connection returns. It is kept until then.");
  try {
    const json = await post(`${home}undo/`, { undo_key: undoKey });
    undoKey = newKey();
    if (json.refused) return say(json.refused);
    done = json.done;
    again(screenFrom(parse(json.again.html)));
  } catch {
    say("Not taken back: there is no connection just now. Press U again in a moment.");
  }
}

// The answer was taken back: its screen is in front again with that answer marked, the one in front comes after it.
function again(screen) {
  const place = past.findIndex((one) => one.lease === screen.lease);
  if (place >= 0) past.splice(place, 1);
  queue = queue.filter((one) => one.lease !== screen.lease);
  if (current && current.lease !== screen.lease) queue.unshift(current);
  current = screen;
  restore(screen);
  paint(screen);
  say("Taken back. Pick again and press Enter.");
}

async function flag() {
  const words = $("flag-reason").value.trim();
  if (!words) return say("Say in a few words what is wrong.");
  try {
    const json = await post(`${home}flag/`, { lease: shown().lease, flag_reason: words });
    if (json.refused) return say(json.refused);
    $("flag-reason").value = "";
    closeSheets();
    say("Flagged, thank you. You can still answer.");
  } catch {
    say("The flag was not sent: there is no connection just now. Your words are still here; try again in a moment.");
  }
}

function cannot() {
  const reason = $("reason").value.trim();
  if (!reason) return say("Say in a few words why it cannot be judged.");
  $("reason").value = "";
  submit("cannot_judge", reason);
}

// Looking back

async function back() {
  let index = (looking ? past.indexOf(looking) : past.length) - 1;
  if (index < 0 && !allPast) index += await fetchPast();
  if (index < 0) return say("There is nothing before this.");
  look(past[index]);
}

// How many screens of the server's history came before those that this page knows.
async function fetchPast() {
  if (!(await outbox.flush())) return 0;
  try {
    const json = await get(`${home}history/`);
    const older = json.past.filter(({ lease }) => !past.some((screen) => screen.lease === lease));
    past.unshift(...older.map(({ html, answer }) => screenFrom(parse(html), answer)));
    allPast = true;
    return older.length;
  } catch {
    say("Earlier screens cannot be fetched: there is no connection just now.");
    return 0;
  }
}

function look(screen) {
  looking = screen;
  restore(screen);
  paint(screen);
}

function forward() {
  if (!looking) return;
  const screen = past[past.indexOf(looking) + 1];
  if (screen) look(screen);
  else present();
}

function present() {
  if (!looking) return;
  restore(looking);
  looking = null;
  if (current || !queue.length) paint(current);
  else next();
  if (!current) sync();
}

function banner() {
  $("banner").hidden = !looking;
  $("skip").disabled = Boolean(looking);
  if (!looking) return;
  const number = done + fresh() - (past.length - 1 - past.indexOf(looking));
  const answer = looking.answer === "cannot_judge" ? " You answered: cannot judge." : "";
  $("banner-text").textContent = `You are looking back at screen ${number}: Right arrow returns.${answer} Another answer and Enter changes it.`;
  say($("banner-text").textContent, true);
}

// Sheets and the rules

const closeSheets = () => document.querySelectorAll("details[open]").forEach((sheet) => (sheet.open = false));

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
  focus(shown());
}

const rules = () => $("rules-dialog").showModal();

// Wiring

const actions = { pick, submit, undo, skip, back, forward, leave, rules, zoom, flag: () => openSheet("flag") };
document.addEventListener("keydown", (event) => onKey(event, actions, shown()));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (button?.name === "cannot_judge") cannot();
  else if (button?.id === "skip") skip();
  else if (button?.formAction.endsWith("/flag/")) flag();
  else submit();
});
$("undo-form").addEventListener("submit", (event) => (event.preventDefault(), undo()));
$("rules").addEventListener("click", (event) => (event.preventDefault(), rules()));
$("rules-dialog").addEventListener("close", leave);
$("zoom").addEventListener("click", () => zoom.toggle());
$("back").addEventListener("click", back);
$("return").addEventListener("click", present);

let pointed = false; // the last touch was by mouse or finger, not by key
addEventListener("pointerdown", () => (pointed = true), true);
addEventListener("keydown", () => (pointed = false), true);
$("place").addEventListener("change", () => {
  if (!pointed) return;
  focus(shown()); // so that arrow keys walk, and do not re-pick
  autoAdvance();
});
$("place").addEventListener("click", (event) => {
  if (zoom.on && event.target.closest(".card-option")) { event.preventDefault(); zoom.toggle(false); }
});
addEventListener("resize", () => shown() && fit(desk, shown().node));

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

// Start: answers that are still on their way are sent first, and their screens are not shown again.

const given = [$("place").firstElementChild, ...[...document.querySelectorAll("template.next")].map((one) => parse(one.innerHTML))];
const unanswered = ({ lease }) => !outbox.entries().some((entry) => entry.lease === lease && !entry.edit);
queue = given.map((node) => screenFrom(node)).filter(unanswered);
queue.forEach(decode);
next();
outbox.flush();
