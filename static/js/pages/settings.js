// The save bar counts and names what differs from what is stored, and stays in view while anything does.
const form = document.getElementById("settings");
const bar = form.querySelector("[data-changes]");
const stored = (field) => field.dataset.stored ?? field.defaultValue ?? [...field.options].find((one) => one.defaultSelected)?.value;
function show() {
  const changed = [...form.elements].filter((field) => field.labels?.length && field.value !== stored(field));
  const names = changed.map((field) => field.labels[0].textContent.trim().toLowerCase());
  const several = names.length > 1 ? "s" : "";
  bar.textContent = names.length ? `${names.length} change${several}: ${names.join(", ")}` : "Nothing to save yet";
  bar.parentElement.classList.toggle("changed", names.length > 0);
}
form.addEventListener("input", show);
addEventListener("pageshow", show); // with what the browser has put back
