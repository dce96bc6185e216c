/* Buttons that copy the contents of a field, and say so where they stand, to screen readers too. */
"use strict";
for (const button of document.querySelectorAll("[data-copies]")) {
  const words = button.textContent;
  const status = Object.assign(document.createElement("span"), { role: "status", className: "visually-hidden" });
  button.after(status);
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // no clipboard over plain http
    }
    button.textContent = "Copied";
    status.textContent = "Copied.";
    setTimeout(() => (button.textContent = words), 3000);
  });
}
