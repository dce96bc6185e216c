/* The import page: files can be dropped on their field. Large ones are sent in chunks, so that an interrupted upload
   continues where it stopped, even after a reload. Small files go with the form, as all do without this script. */
"use strict";

const LARGE = 16 * 2 ** 20; // bytes of all files together
const WAITS = [1, 2, 5, 10, 30]; // seconds before the next try, while the connection is lost

const box = document.getElementById("uploading");
const form = box.closest("form");
const inputs = [...form.querySelectorAll("input[type=file]")];
const [status, bar, stop] = ["[role=status]", "progress", "button"].map((name) => box.querySelector(name));
const token = form.elements.csrfmiddlewaretoken.value;
let stopped = null; // ends the present upload

class Refused extends Error {} // its message is for the user

function megabytes(bytes) {
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `${(bytes / 2 ** 30).toFixed(1)} GB`;
}

async function ask(url, options, signal) {
  const headers = { "X-CSRFToken": token, ...options.headers };
  const answer = await fetch(url, { ...options, headers, signal, redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.status === 403) {
    throw new Refused("You are logged out. Log in, open this page again and choose the same files to continue.");
  }
  if (answer.status === 404) throw new Refused("The server has lost this upload. Press the button to start again.");
  const facts = await answer.json().catch(() => ({}));
  if (answer.ok) return facts;
  if (answer.status === 409) return ask(url, {}, signal); // it has more or fewer bytes: how many?
  if (answer.status >= 500 && answer.status !== 507) throw new TypeError("The server is not available.");
  throw new Refused(facts.errors?.[0]?.remedy || facts.detail || "The server rejects this upload.");
}

const pause = (seconds, signal) =>
  new Promise((go, end) => {
    const timer = setTimeout(go, seconds * 1000);
    addEventListener("online", () => (clearTimeout(timer), go()), { once: true });
    signal.addEventListener("abort", () => (clearTimeout(timer), end(signal.reason)), { once: true });
  });

// Repeat what a lost connection or a restarting server interrupts.
async function persist(work, signal) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      status.textContent = "The connection is lost. The upload continues when it is back.";
      await pause(WAITS[Math.min(tries, WAITS.length - 1)], signal);
    }
  }
}

async function send(file, field, before, total, signal) {
  const body = JSON.stringify({ field, name: file.name, size: file.size, modified: file.lastModified });
  const key = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const begin = { method: "POST", body, headers: { "Content-Type": "application/json", "Idempotency-Key": key } };
  let state = await persist(() => ask(box.dataset.url, begin, signal), signal);
  while (state.received < file.size) {
    const chunk = file.slice(state.received, state.received + state.chunk);
    await chunk.slice(0, 1).arrayBuffer().catch(() => {
      throw new Refused(`“${file.name}” cannot be read any more. Choose it again.`);
    });
    const offset = state.received;
    const headers = { "Upload-Offset": offset, "Content-Type": "application/octet-stream" };
    let again = false;
    state = await persist(() => {
      const request = again ? { method: "GET" } : { method: "PATCH", headers, body: chunk };
      again = true; // a lost answer: ask how far the server came
      return ask(`${box.dataset.url}${state.id}/`, request, signal);
    }, signal);
    if (state.received === offset) await pause(1, signal); // another tab is sending this file
    show(file, before + state.received, total);
  }
  return state.id;
}

function show(file, done, total) {
  [bar.max, bar.value] = [total, done];
  const text = `Uploading ${file.name}: ${megabytes(done)} of ${megabytes(total)} in all`;
  if (status.textContent !== text) status.textContent = text;
}

function hidden(name, value) {
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
}

async function upload(files, submitter) {
  const total = files.reduce((sum, [, file]) => sum + file.size, 0);
  stopped = new AbortController();
  [box.hidden, bar.value] = [false, 0];
  const buttons = [...form.querySelectorAll(".ending button")];
  for (const button of buttons) button.disabled = true;
  try {
    let before = 0;
    const sent = [];
    for (const [field, file] of files) {
      show(file, before, total);
      sent.push([field, await send(file, field, before, total, stopped.signal)]);
      before += file.size;
    }
    for (const [field, id] of sent) hidden(`${field}_new`, id);
    status.textContent = "Uploaded.";
    for (const input of inputs) input.value = "";
    if (submitter?.name) hidden(submitter.name, submitter.value);
    stopped = null;
    form.submit();
  } catch (error) {
    status.textContent = error instanceof Refused ? error.message : "Stopped. Press the button to continue.";
    for (const button of buttons) button.disabled = false;
    stop.hidden = true;
    stopped = null;
  }
}

form.addEventListener("submit", (event) => {
  const files = inputs.flatMap((input) => [...input.files].map((file) => [input.name, file]));
  if (stopped) event.preventDefault();
  if (stopped || files.reduce((sum, [, file]) => sum + file.size, 0) < LARGE) return;
  event.preventDefault();
  stop.hidden = false;
  upload(files, event.submitter);
});

stop.addEventListener("click", () => stopped?.abort(new Error("stopped")));
addEventListener("pageshow", (event) => event.persisted && location.reload()); // back to a form that was sent
addEventListener("beforeunload", (event) => stopped && event.preventDefault());

// What is dropped there goes to `put`.
function dropsOn(place, put) {
  const over = (event, on) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
    place.classList.toggle("dropping", on);
  };
  place.addEventListener("dragover", (event) => over(event, true));
  place.addEventListener("dragleave", (event) => over(event, false));
  place.addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer.files.length) put(event.dataTransfer.files);
  });
}

// Beside the files that are there, unless they have the same names.
function add(input, files) {
  const list = new DataTransfer();
  const names = new Set([...files].map((file) => file.name));
  for (const file of [...input.files].filter((one) => !names.has(one.name)).concat(...files)) list.items.add(file);
  input.files = list.files;
  input.dispatchEvent(new Event("change"));
}

for (const input of inputs) {
  const field = input.closest(".field");
  dropsOn(field, (files) => add(input, files));
  field.querySelector(".hint").append(" You can also drop files here.");
}

form.elements.data.addEventListener("change", ({ target }) => {
  form.elements.name.value ||= target.files[0]?.name.replace(/(\.tar)?\.\w+$/, "") ?? "";
});

for (const row of document.querySelectorAll("[data-upload]")) {
  const name = row.querySelector("bdi").textContent;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "link", textContent: "Delete" });
  button.setAttribute("aria-label", `Delete ${name}`);
  button.addEventListener("click", async () => {
    const answer = await fetch(row.dataset.upload, { method: "DELETE", headers: { "X-CSRFToken": token } });
    if (!answer.ok && answer.status !== 404) return;
    const list = row.closest("ul");
    row.remove();
    if (!list.children.length) list.remove();
    document.getElementById(`id_${list.dataset.field}`)?.focus();
  });
  row.append(" ", button);
}
