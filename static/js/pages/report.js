// The print button; without script, the browser's own command remains.
const button = () => document.querySelector("[data-print]");
const show = () => { if (button()) button().hidden = false; };
document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) window.print(); });
document.addEventListener("htmx:afterSettle", show);
show();
