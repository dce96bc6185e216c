// The save bar counts and names what differs from what is stored.
const form = document.getElementById("settings");
const bar = document.querySelector("[data-changes]");
const stored = (field) => field.dataset.stored ?? field.defaultValue ?? [...field.options].find((one) => one.defaultSelected)?.value;
form.addEventListener("input", () => {
  const changed = [...form.elements].filter((field) => field.labels?.length && field.value !== stored(field));
  const names = changed.map((field) => field.labels[0].textContent.trim().toLowerCase());
  bar.textContent = names.length ? `${names.length} change${names.length > 1 ? "s" : ""}: ${names.join(", ")}` : "No changes";
});
