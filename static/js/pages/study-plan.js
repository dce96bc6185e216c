/* Updates the plan beside the form of a new study. annotation/designs/plan.py computes the same figures. */
"use strict";
const form = document.getElementById("new-study");
const sizeIn = (page) => JSON.parse(page.getElementById("size")?.textContent || '{"items": 0, "tasks": []}');
let size = sizeIn(document);

const whole = (value, digits = 0) => Math.floor(value * 10 ** digits + 0.5) / 10 ** digits;
const written = (value, digits = 0) =>
  whole(value, digits).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const field = (stage, name) => form.elements[`${stage}-${name}`];
const fields = (stage) => form.querySelector(`[data-stage="${CSS.escape(stage)}"]`);
const value = (stage, name) => Number(field(stage, name)?.value) || 0;

function places(stage, judgments, parts) {
  const [size, quota, strategy] = [value(stage, "batch_size"), value(stage, "quota"), field(stage, "strategy").value];
  const people = Number(fields(stage).dataset.people);
  if (!judgments) return 0;
  if (strategy === "batches" && size) {
    return Math.max(people, parts.reduce((sum, [items, overlap]) => sum + Math.ceil(items / size) * overlap, 0));
  }
  const most = parts.filter(([items]) => items).map(([, overlap]) => overlap);
  return Math.max(people, quota ? Math.ceil(judgments / quota) : 0, ...most);
}

function expect(stage, coming, tasks, types) {
  const sample = (value(stage, "sample") || coming) * (field(stage, "sample_each").checked ? types : 1);
  const items = Math.min(coming, sample);
  const overlap = value(stage, "overlap") || 1;
  const shared = Math.min(items, value(stage, "agreement_items"));
  const sharedOverlap = shared ? value(stage, "agreement_overlap") || overlap : 0;
  const judgments = whole(((items - shared) * overlap + shared * sharedOverlap) * tasks);
  const guessed = (items < coming || shared) && tasks % 1 !== 0; // of some of the items, the mean of all is a guess
  const rate = value(stage, "check_rate") / 100;
  const hours = ((judgments + whole((judgments * rate) / (1 - rate))) * value(stage, "seconds")) / 3600;
  const annotators = places(stage, judgments, [[items - shared, overlap], [shared, sharedOverlap]]);
  return { items, judgments, hours, cost: hours * (Number(form.elements.pay_per_hour.value) || 0), annotators, guessed };
}

function show(name, found, assumed) {
  const row = document.querySelector(`[data-plan="${name}"]`);
  const texts = {
    judgments: (assumed ? "≈ " : "") + written(found.judgments),
    hours: written(found.hours, 1),
    cost: written(found.cost, 2),
    annotators: written(found.annotators),
  };
  for (const [of, text] of Object.entries(texts)) row.querySelector(`[data-of="${of}"]`).textContent = text;
}

// What an audit takes is computed by the server.
const isAudit = (stage) => field(stage.dataset.stage, "strategy").value === "audit";
let asked = 0;
async function askServer() {
  const mine = ++asked;
  await new Promise((done) => setTimeout(done, 300)); // until nothing more is typed
  if (mine !== asked) return;
  const body = new FormData(form);
  body.set("plan", "1");
  const page = await fetch(form.action, { method: "POST", body }).then((answer) => answer.text()).catch(() => "");
  const found = new DOMParser().parseFromString(page, "text/html");
  if (mine !== asked || !found.getElementById("plan")) return; // no connection: it stays as it is
  for (const id of ["plan", "plan-audits"]) document.getElementById(id).replaceWith(found.getElementById(id));
  size = sizeIn(found);
}

function plan() {
  if ([...document.querySelectorAll("[data-stage]")].some(isAudit)) {
    askServer();
    return;
  }
  asked += 1;
  document.getElementById("plan-audits").replaceChildren();
  const all = { judgments: 0, hours: 0, cost: 0, annotators: 0 };
  const found = {};
  let guessed = false;
  document.querySelectorAll("[data-stage]").forEach((stage, place) => {
    const { stage: name, source, after } = stage.dataset;
    const coming = source ? whole(found[source].items * (value(source, "kept") / 100)) : size.items;
    found[name] = expect(name, coming, size.tasks[place] || 1, size.types || 1);
    const isGuess = Boolean(source) || found[name].guessed;
    guessed ||= isGuess;
    show(name, found[name], isGuess);
    for (const of of Object.keys(all)) all[of] += of === "annotators" && after ? 0 : found[name][of];
  });
  show("", all, guessed);
  document.getElementById("plan-currency").textContent = form.elements.currency.value.toUpperCase();
}

// What can be started from, and what the questions' roles are called, depends on the benchmark.
function showAgain() {
  const { name, value } = document.getElementById("start");
  const chosen = document.createElement("button");
  Object.assign(chosen, { name: "choose", value: `${name}:${value}`, hidden: true, formNoValidate: true });
  form.append(chosen);
  form.requestSubmit(chosen);
}

if (form) {
  form.addEventListener("input", plan);
  const changesItems = ({ name }) => name.includes("-role_") || name.startsWith("part_");
  form.addEventListener("change", ({ target }) => changesItems(target) && askServer());
  document.getElementById("keys-file").addEventListener("change", async ({ target }) => {
    form.elements.part_keys.value = await target.files[0].text();
    target.value = "";
    askServer();
  });
  form.elements.benchmark.addEventListener("change", showAgain);
  plan();
  document.getElementById("work-out").hidden = true;
}
