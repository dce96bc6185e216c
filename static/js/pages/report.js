// The print button; without script, the browser's own command remains. On a phone a report begins as its headings.
const button = () => document.querySelector("[data-print]");
const fold = (open) => document.querySelectorAll("#report .card > .phone-fold").forEach((one) => { one.open = open; });
const show = () => {
  if (button()) button().hidden = false;
  fold(!window.matchMedia("(max-width: 560px)").matches);
};
window.addEventListener("beforeprint", () => fold(true));
document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) window.print(); });
document.addEventListener("htmx:afterSettle", show);
show();
