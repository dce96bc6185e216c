/* The steps of a new study: another benchmark shows its questions at once, Enter leads on, and the step stays. */
"use strict";
const form = document.getElementById("new-study");
const shown = () => [...form.querySelectorAll(".step")].find((step) => step.checkVisibility());

const first = form?.querySelector("[data-shown]");

// Also where the address leads somewhere else: to the page's content, past its head.
function stay() {
  const step = location.hash ? form.querySelector(":target")?.closest(".step") : first;
  if (!step) return;
  for (const other of form.querySelectorAll(".step")) other.toggleAttribute("data-shown", other === step);
  if (step.matches(":target")) scrollTo(0, 0);
}

if (form) {
  addEventListener("hashchange", stay);
  stay();
  form.elements.benchmark.addEventListener("change", () => form.requestSubmit(document.getElementById("another")));
  form.addEventListener("submit", (event) => {
    const next = shown().querySelector(".foot .primary");
    if (event.submitter?.id !== "enter" || !next) return;
    event.preventDefault();
    setTimeout(() => next.click()); // to the next step, or to create the study: while a form is sent, it is not again
  });
  const { pay_per_hour: pay, currency } = form.elements;
  const only_if_paid = () => (currency.closest(".field").hidden = !Number(pay.value) && currency.checkValidity());
  pay.addEventListener("input", only_if_paid);
  only_if_paid();
  document.getElementById("keys-file").addEventListener("change", async ({ target }) => {
    const { part_keys: keys } = form.elements;
    keys.value = await target.files[0].text();
    target.value = "";
    keys.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
