// The screens that are here, and which of them is in front. Each is one `screen` (screen.js): `current` is to be
// answered, `queue` holds those fetched ahead with their pictures decoded, `past` those answered, oldest first;
// `looking` is a screen of `past`, while looking back.

import { Clock } from "./clock.js";
import { fit } from "./layout.js";
import { deliver, get, newKey, Outbox, showChip } from "./outbox.js";
import { say, tell } from "./say.js";
import { decode, focus, parse, pause, restore, screenFrom } from "./screen.js";
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
  advance: 0, // the timer of auto-advance
};
export const clock = new Clock();
export const zoom = new Zoom(desk, $("zoom"));
export const shown = () => now.looking ?? now.current;
export const have = () => [now.current, ...now.queue].filter(Boolean).map((screen) => screen.lease);
const knows = (lease) => have().includes(lease) || outbox.has(lease);

// In front

export function paint(screen) {
  clearTimeout(now.advance);
  closeSheets();
  zoom.toggle(false);
  const node = screen?.node ?? pause();
  $("place").replaceChildren(node);
  if (screen) fit(desk, node);
  desk.classList.add("ready");
  clock.show(screen);
  progress();
  focus(screen);
  if (innerWidth < 900) scrollTo(0, 0);
  banner();
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
  $("return").textContent = looking ? "Return" : "Next screen";
  $("skip").disabled = Boolean(looking);
  if (!looking) return current?.elsewhere && bannerSays("You answered this screen in another tab.");
  const number = now.done + fresh() - (past.length - 1 - past.indexOf(looking));
  const answer = looking.answer === "cannot_judge" ? " You answered: cannot judge." : "";
  const newer = looking.newer ? " You have changed it in another tab: look back again to see how." : "";
  bannerSays(`You are looking back at screen ${number}: Right arrow returns.${answer} Another answer and Enter changes it.${newer}`);
}

function bannerSays(words) {
  $("banner-text").textContent = words;
  say(words, true);
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
  const minutes = Math.ceil(((total - answered) * now.pace) / 60000);
  $("left").textContent = now.pace && answered < total ? `about ${minutes} min left` : "";
  document.title = document.title.replace(/^\d+ of \d+/, `${answered} of ${total}`);
}

// What the server says

export const outbox = new Outbox(desk.dataset.token, {
  deliver: (entry) => deliver(home, entry, have()),
  elsewhere: answered,
  settled(json, entry) {
    if (json.refused) return tell(`An answer was not taken: ${json.refused}`);
    if (json.receipt === "surplus") {
      tell("That screen had been passed on to somebody else. Your answer is kept, but does not count. Nothing to do for you.");
    }
    answered(entry);
    take(json);
  },
  changed(state, count) {
    const before = $("chip").dataset.state;
    showChip($("chip"), state, count);
    if (state === "unsaved" && before !== "unsaved") say("Not saved yet. Your answers are kept on this device and sent again.");
    if (state === "saved" && before === "unsaved") say("All answers are saved.");
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
  if (shown()?.lease === lease) banner();
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
    const screen = screenFrom(parse(html));
    decode(screen);
    now.queue.push(screen);
  }
  if (!now.current && now.queue.length && !now.looking) next();
  else progress();
  const ended = AT_ONCE.includes(json.state) || (json.state !== "screen" && !now.current);
  if (ended && !now.looking && !outbox.entries().length) location.reload();
}

let syncing = null;
export function sync() {
  const asked = new URLSearchParams(have().map((lease) => ["have", lease]));
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
  say("That screen is not yours any more: you answered it elsewhere, or were away for long and it was passed on.");
  now.current = null;
}
