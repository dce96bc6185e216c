// Shows how fresh the study page is. htmx swaps in figures from the server; live.js preserves the page's state.

import "./live.js";

const freshness = document.getElementById("freshness");
let asked = Date.now();
let reached = true;

function tell() {
  const seconds = Math.round((Date.now() - asked) / 1000);
  const poll = document.getElementById("live-poll");
  if (!poll.hasAttribute("hx-get")) return;
  const word = "large" in poll.dataset ? "checked" : "updated"; // a large study states the time of its figures itself
  const when = `${word} ${seconds < 2 ? "now" : `${seconds} s ago`}`;
  freshness.textContent = reached ? when : "not updating: cannot reach the server";
  freshness.classList.toggle("bad", !reached);
}

document.addEventListener("htmx:afterRequest", (event) => {
  reached = event.detail.successful === true;
  if (reached) asked = Date.now();
  tell();
});
tell();
setInterval(tell, 1000);
