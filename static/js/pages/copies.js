/* Buttons that copy the contents of a field. */
"use strict";
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // no clipboard over plain http
    }
    button.closest(".card").querySelector(".copied").textContent = "Copied.";
  });
}
