// Looking back at one's own last screens.

import { home, now, outbox, paint, present } from "./desk.js";
import { get } from "./outbox.js";
import { say } from "./say.js";
import { parse, restore, screenFrom } from "./screen.js";

let allPast = false; // the server's history was fetched

export async function back() {
  const { looking, past } = now;
  let index = (looking ? past.indexOf(looking) : past.length) - 1;
  if (index < 0 && !allPast) index += await fetchPast();
  if (index < 0) return say(gettext("There is no earlier screen."));
  look(past[index]);
}

// How many screens of the server's history came before those that this page knows.
async function fetchPast() {
  if (!(await outbox.flush())) return 0;
  try {
    const json = await get(`${home}history/`);
    const older = json.past.filter(({ lease }) => !now.past.some((screen) => screen.lease === lease));
    now.past.unshift(...older.map(({ html, answer, seen }) => Object.assign(screenFrom(parse(html), answer), { seen })));
    allPast = true;
    return older.length;
  } catch {
    say(gettext("Earlier screens cannot be loaded: there is no connection right now."));
    return 0;
  }
}

function look(screen) {
  now.looking = screen;
  Object.assign(screen, screen.newer, { newer: null });
  restore(screen);
  paint(screen);
}

export function forward() {
  const { looking, past } = now;
  if (!looking) return;
  const screen = past[past.indexOf(looking) + 1];
  if (screen) look(screen);
  else present();
}
