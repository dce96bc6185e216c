// The save bar is there while something differs from what is stored, and counts and names it.
const form = document.getElementById("settings");
const bar = form.querySelector("[data-changes]");
const stored = (field) => field.dataset.stored ?? field.defaultValue ?? [...field.options].find((one) => one.defaultSelected)?.value;
function show() {
  const changed = [...form.elements].filter((field) => field.labels?.length && field.value !== stored(field));
  const names = changed.map((field) => field.labels[0].textContent.trim().toLowerCase());
  if (names.length) bar.textContent = `${names.length} change${names.length > 1 ? "s" : ""}: ${names.join(", ")}`;
  bar.parentElement.classList.toggle("changed", names.length > 0);
}
form.addEventListener("input", show);
addEventListener("pageshow", show); // with what the browser has put back
