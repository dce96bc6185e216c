// What an annotator does with a screen: pick, submit, skip, take back, flag, cannot judge. After Enter the answer goes to
// the outbox, the next screen is painted at once, and only then the network is used.

import { $, clock, closeSheets, desk, goOn, have, home, next, now, outbox, paint, present, shown, take } from "./desk.js";
import { newKey, post } from "./outbox.js";
import { forgetHere, format, say, sayHere, tell } from "./say.js";
import { forget, same } from "./forms.js";
import { answerOf, focus, lacks, nameOf, parse, radios, restore, screenFrom } from "./screen.js";

const CANNOT = "cannot_judge";

export function pick(value) {
  const radio = shown() && radios(shown()).find((radio) => radio.value === value);
  if (!radio) return;
  radio.checked = true;
  say(format(gettext("%(answer)s picked"), { answer: nameOf(radio) }), true);
  autoAdvance();
}

export function autoAdvance() {
  clearTimeout(now.advance);
  if ("autoAdvance" in desk.dataset && !now.looking) now.advance = setTimeout(() => submit(), 350);
}

// What stands in place of a screen says why nothing can be done with it.
const sayWhy = () => sayHere($("place").textContent);

export function submit(answer = shown() && answerOf(shown()), reason = "") {
  clearTimeout(now.advance);
  const screen = shown();
  if (!screen) return sayWhy();
  const why = answer !== CANNOT && lacks(screen, answer);
  if (why) return sayHere(why);
  const edit = Boolean(now.looking);
  if (edit && same(answer, screen.answer) && !reason) return present();
  const { elapsed, active } = clock.read();
  clock.answered();
  const key = newKey();
  outbox.add({ key, at: Date.now(), lease: screen.lease, answer, reason, active, elapsed, edit, seen: screen.seen });
  Object.assign(screen, { answer, seen: key });
  screen.sent = true; // a field that loses the focus later is no draft any more
  forget(screen.lease);
  if (edit) present();
  else {
    now.pace = now.pace ? now.pace * 0.9 + active * 0.1 : active;
    now.past.push(screen);
    forgetHere();
    next();
  }
  outbox.flush();
}

export async function skip() {
  if (now.looking) return say(gettext("Go back to the current screen first."));
  const screen = now.current;
  if (!screen) return;
  if (screen.elsewhere) return goOn();
  clearTimeout(now.advance);
  try {
    const json = await post(`${home}skip/`, { lease: screen.lease, have: have() });
    if (now.current === screen) now.current = null;
    take(json);
    if (!now.current && now.queue.length) next();
    say(gettext("Skipped. Somebody else will judge it."));
  } catch {
    say(gettext("Not skipped: there is no connection right now. Try again in a moment."));
  }
}

export async function undo() {
  present();
  clearTimeout(now.advance);
  const last = outbox.entries().at(-1);
  if (last && !outbox.tried.has(last.key) && now.past.at(-1)?.lease === last.lease) {
    outbox.remove(last.key);
    now.past.at(-1).seen = last.seen;
    return again(now.past.at(-1));
  }
  if (!(await outbox.flush())) return say(gettext("You can undo this when the connection is back. Until then your answer is kept."));
  try {
    const json = await post(`${home}undo/`, { undo_key: now.undoKey });
    now.undoKey = newKey();
    if (json.refused) return say(json.refused);
    if (json.moved) return tell(takenBack()), location.reload(); // a screen of another stage
    now.done = json.done;
    again(screenFrom(parse(json.again.html)));
  } catch {
    say(gettext("Not undone: there is no connection right now. Try again in a moment."));
  }
}

const takenBack = () => gettext("Undone. Pick again and submit.");

// The answer was taken back: its screen is in front again with that answer marked, the one in front comes after it.
function again(screen) {
  const { current, past } = now;
  const place = past.findIndex((one) => one.lease === screen.lease);
  if (place >= 0) past.splice(place, 1);
  now.queue = now.queue.filter((one) => one.lease !== screen.lease);
  if (current && current.lease !== screen.lease) now.queue.unshift(current);
  now.current = screen;
  screen.sent = false;
  restore(screen);
  paint(screen);
  sayHere(takenBack());
}

export async function flag() {
  const words = $("flag-reason").value.trim();
  if (!words) return sayHere(gettext("Say in a few words what is wrong."));
  const screen = now.looking ?? now.current;
  if (!screen) return sayWhy();
  try {
    const json = await post(`${home}flag/`, { lease: screen.lease, flag_reason: words });
    if (json.refused) return say(json.refused);
    $("flag-reason").value = "";
    closeSheets();
    focus(screen);
    sayHere(gettext("Flagged. Thank you! You can still answer."));
  } catch {
    say(gettext("The flag was not sent: there is no connection right now. Your text is still here; try again in a moment."));
  }
}

export function cannot() {
  const reason = $("reason").value.trim();
  if (!reason) return sayHere(gettext("Say in a few words why you cannot judge this."));
  if (!shown()) return sayWhy();
  $("reason").value = "";
  submit(CANNOT, reason);
}
