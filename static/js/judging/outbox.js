// Answers on their way to the server. An answer is written here before the next screen is painted and leaves only when
// the server has said that it is kept; it survives a lost connection, a reload and a closed tab (localStorage).

import { format } from "./say.js";
import { CONFLICT, showQuestion } from "./two-tabs.js";

const DELAYS = [1, 2, 4, 8, 15, 30]; // seconds between tries
const OUTLIVES = 60_000; // bytes: a browser refuses to send more than 64 KiB that is to outlive its page

export const post = (url, fields, options = {}) => {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
  const keepalive = Boolean(options.keepalive) && String(body).length < OUTLIVES;
  return read(fetch(url, { method: "POST", body, headers: { Accept: "application/json" }, ...limits(), ...options, keepalive }));
};

export const get = (url) => read(fetch(url, { headers: { Accept: "application/json" }, ...limits() }));

const limits = () => ({ signal: AbortSignal.timeout(20000) });

// What Winnow itself answered, a refusal included; anything else (no network, a proxy's page, a crash) throws, with the
// status where there is one.
async function read(promise) {
  const response = await promise;
  const json = await response.json().catch(() => null);
  if (json && (response.ok || json.refused)) return json;
  throw Object.assign(new Error(`status ${response.status}`), { status: response.status });
}

// One answer, as the server reads it. `seen` is the key of the stored answer that it changes; `have` names the screens
// that need not be sent again, `ahead` says how many to hold.
export function deliver(home, { key, lease, answer, reason, active, elapsed, seen = "" }, have = [], ahead = "") {
  const fields = answer === "cannot_judge" ? { cannot_judge: 1, reason } : typeof answer === "object" ? answer : { answer };
  return post(`${home}submit/`, { key, lease, ...fields, active, elapsed, seen, have, ahead }, { keepalive: true });
}

export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only where the page came over https or from this machine
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export class Outbox {
  // `deliver(entry)` posts one and resolves with the server's JSON; `settled(json, entry)` hears it; `changed(state,
  // count)` hears "saved", "saving", "unsaved" or "asked"; `elsewhere(entry)` hears of an answer that another tab has
  // stored. `asked` has what the server said of answers that are not stored, since another one stands (two-tabs.js).
  constructor(token, { deliver, settled, changed, elsewhere = () => {} }) {
    Object.assign(this, { prefix: `winnow:${token}:`, deliver, settled, changed, elsewhere, memory: new Map() });
    Object.assign(this, { tried: new Set(), asked: new Map(), tries: 0, tabs: new BroadcastChannel(this.prefix) });
    this.tabs.addEventListener("message", ({ data: { entry, json } }) => {
      if (json.receipt) this.elsewhere(entry);
      else if (json.kind === CONFLICT && this.entries().some(({ key }) => key === entry.key)) this.#ask(entry, json);
    });
    addEventListener("storage", () => this.asked.size && this.#forgetDecided());
    addEventListener("online", () => this.flush());
    addEventListener("pageshow", () => this.flush());
    addEventListener("visibilitychange", () => this.flush());
    addEventListener("pagehide", () => this.oldest().forEach((entry) => this.deliver(entry).catch(() => {})));
  }

  add(entry) {
    try {
      localStorage.setItem(this.prefix + entry.key, JSON.stringify(entry));
    } catch {
      this.memory.set(entry.key, entry); // no storage (a private window, or full): it lives in this page alone
    }
  }

  remove(key) {
    this.memory.delete(key);
    this.#stored((storage) => storage.removeItem(this.prefix + key));
  }

  // What the annotator says to the question: the stored answer stays, or this one is sent again, as a change of that.
  decide(key, keep) {
    const { seen, answer } = this.asked.get(key);
    const entry = this.entries().find((one) => one.key === key);
    this.asked.delete(key);
    if (entry && keep) {
      this.remove(key);
      this.elsewhere({ ...entry, answer, key: seen });
    } else if (entry) this.add({ ...entry, seen });
    showQuestion(this);
    this.flush();
  }

  #asks(screen) {
    return this.entries().some(({ key, lease }) => lease === screen && this.asked.has(key));
  }

  #ask(entry, json) {
    this.asked.set(entry.key, json);
    showQuestion(this);
  }

  // Another tab of this browser has decided.
  #forgetDecided() {
    const there = new Set(this.entries().map(({ key }) => key));
    for (const key of this.asked.keys()) there.has(key) || this.asked.delete(key);
    showQuestion(this);
    if (!this.asked.size) this.flush();
  }

  // Oldest first. Another tab of the same annotator shares them; sending one twice is harmless, the key is the same.
  entries() {
    const stored = this.#stored((storage) =>
      Object.keys(storage)
        .filter((name) => name.startsWith(this.prefix))
        .map((name) => JSON.parse(storage.getItem(name))),
    );
    return [...(stored ?? []), ...this.memory.values()].filter(Boolean).sort((one, other) => one.at - other.at);
  }

  // Each screen's first answer: one that changes it must not overtake it.
  oldest() {
    const leases = new Set();
    return this.entries().filter(({ lease }) => !leases.has(lease) && leases.add(lease));
  }

  #stored(use) {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  }

  has(lease) {
    return this.entries().some((entry) => entry.lease === lease);
  }

  // Sends all, one after the other, in the order in which they were given. One that the server fails on is left for the
  // next time, with what changes it, and so is one that the annotator is asked about; the others go. Resolves with
  // whether none is left.
  flush() {
    clearTimeout(this.timer);
    this.running ??= this.#drain().finally(() => (this.running = null));
    return this.running;
  }

  async #drain() {
    const failed = new Set(); // screens
    for (let entry; (entry = this.entries().find(({ lease }) => !failed.has(lease) && !this.#asks(lease))); ) {
      this.changed(this.tries || failed.size ? "unsaved" : "saving", this.entries().length);
      let json;
      try {
        this.tried.add(entry.key);
        json = await this.deliver(entry);
      } catch ({ status }) {
        if (!status) return this.#later(); // no network: the others would fare no better
        failed.add(entry.lease);
        continue;
      }
      this.tries = 0;
      this.tabs.postMessage({ entry, json });
      if (json.kind === CONFLICT) {
        this.#ask(entry, json);
        continue;
      }
      this.remove(entry.key);
      this.settled(json, entry);
    }
    if (failed.size) return this.#later();
    if (this.asked.size) return this.changed("asked", this.asked.size), false;
    this.changed("saved", 0);
    return true;
  }

  #later() {
    this.changed("unsaved", this.entries().length);
    this.timer = setTimeout(() => this.flush(), DELAYS[Math.min(this.tries++, DELAYS.length - 1)] * 1000);
    return false;
  }
}

// "" where there is none.
export const storedHere = (n) =>
  n ? format(ngettext("%(n)s answer is stored on this device and will be sent.", "%(n)s answers are stored on this device and will be sent.", n), { n }) : "";

const WORDS = { "": () => gettext("saved"), saved: () => gettext("saved"), saving: () => gettext("saving"), asked: () => gettext("not saved: two answers") };

const chipWords = (state, count) => WORDS[state]?.() ?? gettext("not saved, retrying") + (count > 1 ? ` (${count})` : "");

export function showChip(chip, state, count) {
  chip.dataset.state = state;
  chip.textContent = chipWords(state, count);
  chip.dataset.longest ??= ["unsaved", ...Object.keys(WORDS)].map((one) => chipWords(one, 99)).sort((one, other) => other.length - one.length)[0];
}
