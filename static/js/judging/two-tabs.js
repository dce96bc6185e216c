// A screen was answered in two tabs: the server's question which answer is to count, in a dialog that stays until one is
// chosen. Without script, the same question is a page.

export const CONFLICT = "AnsweredElsewhere"; // the kind of the server's refusal

let dialog = null;
let shown = null; // what the server said, of the question in sight

export function showQuestion(outbox) {
  const [[key, json] = []] = outbox.asked;
  if (json === (shown ?? undefined)) return;
  const before = dialog;
  dialog = shown = null;
  before?.remove();
  if (json) open(outbox, key, (shown = json));
  else document.querySelector("#place h1")?.focus({ preventScroll: true });
}

function open(outbox, key, json) {
  const decide = (keep) => (event) => (event.preventDefault(), outbox.decide(key, keep));
  const mine = (dialog = document.createElement("dialog"));
  mine.setAttribute("aria-labelledby", "two-tabs");
  mine.innerHTML = `<h2 id="two-tabs" tabindex="-1" autofocus></h2>${json.html}`;
  mine.firstChild.textContent = json.refused;
  mine.querySelector("#keep").addEventListener("click", decide(true));
  mine.querySelector("form").addEventListener("submit", decide(false));
  mine.addEventListener("cancel", (event) => event.preventDefault());
  mine.addEventListener("close", () => mine === dialog && mine.showModal());
  document.body.append(mine);
  mine.showModal();
}
