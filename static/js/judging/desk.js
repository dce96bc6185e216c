// The screens that are here, and which of them is in front. Each is one `screen` (screen.js): `current` is to be
// answered, `queue` holds those fetched ahead, `past` those answered, oldest first;
// `looking` is a screen of `past`, while looking back.

import { Clock } from "./clock.js";
import { deliver, get, newKey, Outbox, showChip, storedHere } from "./outbox.js";
import { load } from "./pictures.js";
import { format, say, tell } from "./say.js";
import { focus, layOut, parse, pause, restore, screenFrom } from "./screen.js";
import { Zoom } from "./zoom.js";

export const $ = (id) => document.getElementById(id);
export const desk = $("desk");
export const { home } = desk.dataset;

export const now = {
  past: [],
  queue: [],
  current: null,
  looking: null,
  done: Number(desk.dataset.done), // as the server last said
  total: Number(desk.dataset.total), // likewise; another batch makes it more
  pace: Number(desk.dataset.pace), // active milliseconds for a screen
  undoKey: newKey(),
  unsent: 0, // answers, while there is no connection
  advance: 0, // the timer of auto-advance
};
export const clock = new Clock();
export const zoom = new Zoom(desk, $("zoom"));
const front = () => now.looking ?? now.current;
// What is in front and was painted: keys and answers are for nothing else.
export const shown = () => (front()?.painted ? front() : null);
export const have = () => [now.current, ...now.queue].filter(Boolean).map((screen) => screen.lease);
const knows = (lease) => have().includes(lease) || outbox.has(lease);

// In front

export function paint(screen) {
  clearTimeout(now.advance);
  closeSheets();
  turnSheets(screen);
  zoom.toggle(false);
  $("place").replaceChildren(screen?.node ?? pause());
  if (!screen) pauseSays();
  if (screen) layOut(desk, screen, gettext("If that does not help, flag the screen or skip it."));
  loadPictures();
  desk.classList.add("ready");
  clock.show(screen);
  progress();
  focus(screen);
  if (innerWidth < 900) scrollTo(0, 0);
  banner();
}

const loadPictures = () => load([front(), now.current, ...now.queue].filter(Boolean));

function pauseSays() {
  if (front()) return; // it could not be shown, and says so
  const line = document.querySelector("#place .pause");
  if (!line) return;
  const words = now.unsent ? [gettext("There is no connection right now."), storedHere(now.unsent)] : [gettext("Loading the next screen…")];
  line.textContent = words.join(" ");
}

export function next() {
  now.current = now.queue.shift() ?? null;
  paint(now.current);
}

// Back from looking back.
export function present() {
  if (!now.looking) return;
  restore(now.looking);
  now.looking = null;
  if (now.current || !now.queue.length) paint(now.current);
  else next();
  if (!now.current) sync();
}

// The button beside what the banner says: back from looking back, or on from a screen that another tab has answered.
export function goOn() {
  if (now.looking) return present();
  next();
  if (!now.current) sync();
}

function banner() {
  const { looking, past, current } = now;
  $("banner").hidden = !looking && !current?.elsewhere;
  $("return").textContent = looking ? gettext("Return") : gettext("Next screen");
  $("skip").disabled = Boolean(looking);
  if (!looking) return current?.elsewhere && bannerSays(gettext("You answered this screen in another tab."));
  const number = now.done + fresh() - (past.length - 1 - past.indexOf(looking));
  const words = [format(gettext("This is screen %(number)s, which you have answered."), { number })];
  if (looking.answer === "cannot_judge") words.push(gettext("Your answer: cannot judge."));
  if (looking.newer) words.push(gettext("You have changed it in another tab. Go back again to see how."));
  words.push(gettext("To change your answer, pick another and submit it."));
  bannerSays(words.join(" "));
}

function bannerSays(words) {
  $("banner-text").textContent = words;
  say(words, true);
}

// What is written in the sheets is about one screen: it stays with it, and none is sent about another.
let turnedTo = null;
function turnSheets(screen) {
  const fields = [...document.querySelectorAll(".sheet textarea")];
  if (turnedTo) turnedTo.written = fields.map(({ value }) => value);
  fields.forEach((field, place) => (field.value = screen?.written?.[place] ?? ""));
  turnedTo = screen;
}

export const closeSheets = () => document.querySelectorAll("details[open]").forEach((sheet) => (sheet.open = false));

// Progress and time left, from the annotator's own pace.

const fresh = () => outbox.entries().filter(({ key, edit }) => !edit && !outbox.asked.has(key)).length;

export function progress() {
  const { total } = now;
  const answered = Math.min(now.done + fresh(), total);
  $("done").textContent = answered;
  $("total").textContent = $("bar").max = total;
  $("bar").value = answered;
  const left = total - answered;
  const minutes = Math.ceil((left * now.pace) / 60000);
  const words = ngettext("about %(minutes)s min, %(left)s screen left", "about %(minutes)s min, %(left)s screens left", left);
  $("left").textContent = minutes ? format(words, { minutes, left }) : "";
  const study = document.querySelector(".status .study").textContent;
  document.title = `${format(gettext("%(done)s of %(total)s"), { done: answered, total })} · ${study}`;
}

// What the server says

// Two screens are held, and four on a slow network: else a quick annotator would wait for the next sentence. It is slow
// if none of the latest requests was quick; at first those for the page's scripts and styles, where they were not cached.
const SLOW = 300; // milliseconds
const fetched = performance.getEntriesByType("resource").filter(({ transferSize }) => transferSize);
let trips = fetched.length ? [Math.min(...fetched.map((one) => one.responseEnd - one.requestStart))] : [0];
const ahead = () => (Math.min(...trips) > SLOW ? 4 : 2);

async function timed(request) {
  const start = performance.now();
  await request.catch(() => {});
  trips = [trips.at(-1), performance.now() - start];
  return request;
}

export const outbox = new Outbox(desk.dataset.token, {
  deliver: (entry) => timed(deliver(home, entry, have(), ahead())),
  elsewhere: answered,
  settled(json, entry) {
    if (json.refused) return tell(format(gettext("An answer was not saved: %(reason)s"), { reason: json.refused }));
    if (json.receipt === "surplus") {
      tell(gettext("That screen had already been passed to somebody else. Your answer is saved but does not count. You do not need to do anything."));
    }
    now.done = json.done; // the entry no longer counts as one on its way
    answered(entry);
    take(json);
  },
  changed(state, count) {
    const before = $("chip").dataset.state;
    showChip($("chip"), state === "saved" && !now.done ? "" : state, count);
    now.unsent = state === "unsaved" ? count : 0;
    pauseSays();
    if (state === "unsaved" && before !== "unsaved") say(gettext("Not saved yet. Your answers are stored on this device and will be sent again."));
    if (state === "saved" && before === "unsaved") say(gettext("All answers are saved."));
    if (["saved", "asked"].includes(state) && !now.current) sync();
  },
});

// An answer is stored that may have been given in another tab: this one goes on from what is stored, unless a change of
// it is on its way.
function answered({ lease, answer, key }) {
  now.queue = now.queue.filter((screen) => screen.lease !== lease);
  const screen = now.past.find((one) => one.lease === lease);
  const changed = outbox.entries().some((entry) => entry.lease === lease && entry.key !== key);
  if (screen && !changed) screen.newer = screen.seen === key ? null : { answer, seen: key };
  if (now.current?.lease === lease) now.current.elsewhere = true;
  if (front()?.lease === lease) banner();
}

// States that end the work at this page, whatever is in front; the others only when nothing is left to answer.
const AT_ONCE = ["consent", "rules", "before", "moved", "left", "excluded", "screened_out"];

// What is held now. The page is loaded anew where it is to show something else than screens.
export function take(json) {
  now.done = json.done;
  if (json.total) now.total = json.total;
  else if (now.done >= now.total && json.screens?.length) sync(); // another batch has begun
  for (const { lease, html } of json.screens ?? []) {
    if (knows(lease)) continue;
    now.queue.push(screenFrom(parse(html)));
  }
  loadPictures();
  if (!now.current && now.queue.length && !now.looking) next();
  else progress();
  const ended = AT_ONCE.includes(json.state) || (json.state !== "screen" && !now.current);
  if (ended && !now.looking && !outbox.entries().length) location.reload();
}

export const hasRoom = () => have().length < ahead();

let syncing = null;
export function sync() {
  const asked = new URLSearchParams([...have().map((lease) => ["have", lease]), ["ahead", ahead()]]);
  syncing ??= get(`${home}?${asked}`)
    .then((json) => {
      if (!outbox.entries().length && json.state === "screen") dropLost(json.held);
      take(json);
    })
    .catch(() => setTimeout(() => !now.current && sync(), 3000))
    .finally(() => (syncing = null));
  return syncing;
}

// A screen that ran out while the page slept is somebody else's now.
function dropLost(held) {
  const { current } = now;
  now.queue = now.queue.filter((screen) => held.includes(screen.lease));
  if (!current || current.elsewhere || now.looking || held.includes(current.lease)) return;
  say(gettext("That screen is no longer yours: you answered it elsewhere, or it was passed to somebody else while you were away."));
  now.current = null;
}
