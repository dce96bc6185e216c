// A page before joining, of a study that is paused: it looks again by itself. A form that was sent is not sent again.

if (document.getElementById("stopped")?.dataset.state === "paused") {
  setInterval(() => document.hidden || location.replace(location.href), 20000);
}
