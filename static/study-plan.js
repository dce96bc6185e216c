/* The plan beside the form of a new study: judgments, hours and cost of what is filled in. */
"use strict";
const SECONDS = 10; // for a judgment, as the page says
const form = document.getElementById("new-study");
const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });

function plan() {
  const row = document.querySelector(`[data-benchmark="${form.benchmark.value}"]`);
  const items = Number(row?.dataset.items || 0);
  const overlap = Number(form.overlap.value) || 0;
  const hours = (items * overlap * SECONDS) / 3600;
  const shown = {
    items: number(items),
    overlap: number(overlap),
    judgments: number(items * overlap),
    hours: `${number(hours, 1)} h`,
    cost: `${number(hours * (Number(form.pay_per_hour.value) || 0))} ${form.currency.value.toUpperCase()}`,
  };
  for (const [name, text] of Object.entries(shown)) {
    document.querySelector(`[data-plan="${name}"]`).textContent = text;
  }
}

if (form) {
  form.addEventListener("input", plan);
  plan();
  document.getElementById("plan").hidden = false;
  document.getElementById("sizes").hidden = true;
}
