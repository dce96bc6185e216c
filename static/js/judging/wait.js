// The pages around judging: copy buttons; a waiting page that looks again; answers that are still on their way.

import { deliver, get, Outbox, showChip } from "./outbox.js";
import { kept } from "./say.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    getSelection().selectAllChildren(source);
    const copied = await navigator.clipboard?.writeText(source.textContent).then(() => true, () => false);
    button.textContent = copied || document.execCommand("copy") ? gettext("Copied") : gettext("Press Ctrl+C");
  });
}

for (const time of document.querySelectorAll("time")) {
  time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

function show(words) {
  const line = Object.assign(document.createElement("p"), { textContent: words });
  line.setAttribute("role", "status");
  document.querySelector(".sheet-page h1").after(line);
}

const before = document.querySelector(".sheet-page") && kept();
if (before) show(before);

const page = document.getElementById("stopped");
if (page?.dataset.token) {
  const { token, home, state } = page.dataset;
  const chip = document.getElementById("chip");
  let shown = false; // then the page stays, so that it can be read
  let asked = false; // which of two answers is to count
  const showAndStay = (words) => {
    shown = true;
    show(words);
  };
  const outbox = new Outbox(token, {
    deliver: (entry) => deliver(home, entry),
    settled: (json) => {
      const surplus = gettext("That screen had already been passed to somebody else. Your answer is saved but does not count.");
      const words = json.refused ?? (json.receipt === "surplus" ? surplus : "");
      if (words) showAndStay(words);
    },
    changed: (now, count) => {
      if (now === "saved" && asked && !shown) location.reload();
      asked ||= now === "asked";
      chip.hidden &&= now === "saved"; // only where something was on its way
      showChip(chip, now, count);
    },
  });
  const look = async () => {
    try {
      if ((await get(home)).state !== state) location.reload();
    } catch {
      // no connection just now; it looks again
    }
  };
  if (outbox.entries().length) outbox.flush().then((sent) => sent && !shown && location.reload());
  if (state !== "done" || "again" in page.dataset) {
    setInterval(() => document.hidden || look(), 10000);
    document.addEventListener("visibilitychange", () => document.hidden || look());
  }
}
