// The study page says how fresh it is. The figures come from the server: htmx swaps them in, live.js keeps the rest.

import "./live.js";

const freshness = document.getElementById("freshness");
let asked = Date.now();
let reached = true;

function tell() {
  const seconds = Math.round((Date.now() - asked) / 1000);
  const poll = document.getElementById("live-poll");
  if (!poll.hasAttribute("hx-get")) return;
  const word = "large" in poll.dataset ? "checked" : "updated"; // a large study says itself of when its figures are
  const when = `${word} ${seconds < 2 ? "now" : `${seconds} s ago`}`;
  freshness.textContent = reached ? when : "not updating: the server cannot be reached";
  freshness.classList.toggle("bad", !reached);
}

document.addEventListener("htmx:afterRequest", (event) => {
  reached = event.detail.successful === true;
  if (reached) asked = Date.now();
  tell();
});
tell();
setInterval(tell, 1000);
