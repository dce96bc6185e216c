/* A picture of an item over the page: Z or a press zooms in at the pointer, arrows move, Esc closes. Without script, its
   link shows it by itself. */
import { isOff, letter, onKeyIn } from "../judging/keys.js";
import { Zoom } from "../judging/zoom.js";

const MARKUP = `<div class="card-place"><img></div><form method="dialog">
  <button type="button" id="enlarged-zoom">Zoom <kbd aria-hidden="true">Z</kbd></button>
  <button>Close <kbd aria-hidden="true">Esc</kbd></button></form>`;

function enlarge(link) {
  const dialog = Object.assign(document.createElement("dialog"), { className: "enlarged", innerHTML: MARKUP });
  const [name] = link.querySelector("img").alt.split(", enlarge");
  dialog.setAttribute("aria-label", name);
  Object.assign(dialog.querySelector("img"), { src: link.href, alt: name });
  const zoom = new Zoom(dialog.firstElementChild, dialog.querySelector("button"));
  zoom.toggle(false);
  dialog.querySelector("button").addEventListener("click", () => zoom.toggle());
  dialog.firstElementChild.addEventListener("click", () => zoom.toggle());
  onKeyIn(dialog, (event) => {
    if (isOff(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (letter(event) === "z") event.repeat || zoom.toggle();
    else if (event.key.startsWith("Arrow")) zoom.on || zoom.toggle(true), zoom.pan(event.key), event.preventDefault();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(".case-picture, .thumbs a");
  if (!link || link.hasAttribute("data-video") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  enlarge(link);
});
