// What the browser shows at an annotator's address without a connection (templates/judging/worker.js): how many answers
// are stored on this device. It looks again, and goes on where it was.

import { get, Outbox, storedHere } from "./outbox.js";

const [, judge, token] = location.pathname.split("/");
const nothing = () => {};
const outbox = new Outbox(token, { deliver: () => Promise.reject(new Error("offline")), settled: nothing, changed: nothing });
const stored = () => (document.getElementById("kept").textContent = storedHere(outbox.entries().length));

async function look() {
  const there = await get(`/${judge}/${token}/`).then(
    () => true,
    ({ status }) => status < 500,
  );
  if (there) location.reload();
}

stored();
addEventListener("storage", stored);
addEventListener("online", look);
document.addEventListener("visibilitychange", () => document.hidden || look());
setInterval(() => document.hidden || look(), 5000);
