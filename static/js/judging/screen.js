// One screen: { node, lease, answer }, made from the fragment that the server sent. `answer` is what was picked, or, where
// the screen is a form, its fields; "" before there is one. `seen` is the key of that answer, where it was given here or
// is stored; `painted` says that it has been laid out in front; `elsewhere` and `newer` say that another tab has answered the screen, or changed its answer since.

import { fields, fill, kindOf, prepare } from "./forms.js";
import { fit } from "./layout.js";
import { optionsReady } from "./options.js";
import { hold } from "./pictures.js";
import { format } from "./say.js";

export function screenFrom(node, answer = node.dataset.picked) {
  for (const one of node.querySelectorAll(SEEN)) watch(one);
  const screen = { node, lease: node.dataset.lease, answer };
  optionsReady(node);
  if (!node.dataset.form) return screen;
  screen.answer = "answered" in node.dataset ? fields(node) : "";
  try {
    prepare(screen);
  } catch (error) {
    screen.failed = error; // said when it comes to the front (desk.js)
  }
  return screen;
}

export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  hold(template.content);
  return document.importNode(template.content.querySelector("fieldset.screen"), true);
}

export const radios = (screen) => [...screen.node.querySelectorAll("input[name=answer]")];
export const picked = (screen) => radios(screen).find((radio) => radio.checked)?.value ?? "";
export const answerOf = (screen) => (kindOf(screen) ? fields(screen.node) : picked(screen));
export function restore(screen) {
  if (kindOf(screen)) fill(screen.node, screen.answer || fields(screen.node));
  else radios(screen).forEach((radio) => (radio.checked = radio.value === screen.answer));
}

// What an answer is called when it is read out.
export function nameOf(radio) {
  const label = radio.closest("label"), picture = label.querySelector("img");
  if (label.matches(".text-option")) return format(gettext("Sentence %(number)s"), { number: radio.dataset.keys || label.querySelector(".number")?.textContent || radio.value });
  if (picture) return picture.alt;
  const words = label.cloneNode(true); // of a picture, this would fetch it once more, before all else
  words.querySelectorAll("kbd").forEach((one) => one.remove());
  return words.textContent.replace(/\s+/g, " ").trim();
}

// A preview stands in another page: the focus stays there until the reader is in the preview.
export const focus = (screen) => {
  if (window === window.top || document.hasFocus()) screen?.node.querySelector("h1")?.focus({ preventScroll: true });
};

const RETRIES = [2, 4, 8, 16, 32]; // seconds: the server sends no picture while its storage hangs

const SEEN = "img, video";
const isVideo = (one) => one.matches("video");
const isShown = (one) => (isVideo(one) ? one.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA : one.complete && one.naturalWidth > 0);
const isBroken = (one) => (isVideo(one) ? Boolean(one.error) : one.complete && one.src && !one.naturalWidth);
const called = (one) => one.alt || one.ariaLabel;

function watch(img) {
  const waits = RETRIES.values();
  const failed = () => {
    mark(img);
    const { value, done } = waits.next();
    done || setTimeout(() => isBroken(img) && loadAgain(img), value * 1000);
  };
  img.addEventListener("error", failed);
  for (const type of ["load", "loadeddata"]) img.addEventListener(type, () => unmark(img));
  if (isBroken(img)) failed();
}

const unmark = (img) => img.closest(".card-place")?.querySelector(".broken")?.remove();

// What still hides a picture or a video of the screen, in a sentence, or "". One that nobody has asked to see yet hides
// nothing, and a video can be seen once it can be played.
function hidden({ node }) {
  const img = [...node.querySelectorAll(SEEN)].find((one) => one.getClientRects().length && !isShown(one));
  if (!img) return "";
  const words = isBroken(img) ? gettext("%(picture)s did not load.") : gettext("%(picture)s is still loading.");
  return format(words, { picture: called(img) || img.closest(".row").querySelector(".says").textContent });
}

// What keeps this answer to the screen from being sent, in a sentence, or "".
export function lacks(screen, answer) {
  return hidden(screen) || kindOf(screen)?.lacks(screen) || (answer ? "" : gettext("Pick an answer first."));
}

// Lays out the screen that is in its place. One that fails says so instead of being half a screen, or none, that takes
// answers; `help` is what to do if it goes on failing.
export function layOut(desk, screen, help = "") {
  try {
    if (screen.failed) throw screen.failed;
    fit(desk, screen.node);
    screen.painted = true;
  } catch (error) {
    reportError(error);
    screen.painted = false;
    const words = [gettext("This screen cannot be shown. Load the page again."), help];
    document.getElementById("place").replaceChildren(pause(words.join(" ").trim()));
  }
}

// Says on the card that its picture did not load, and offers to load it again.
function mark(img) {
  const place = img.closest(".card-place");
  if (!place || place.querySelector(".broken")) return;
  const note = document.createElement("div");
  note.className = "broken";
  note.innerHTML = "<p></p><button type=button></button>";
  note.firstChild.textContent = format(gettext("%(picture)s did not load."), { picture: called(img) });
  note.lastChild.textContent = gettext("Load it again");
  note.lastChild.addEventListener("click", () => {
    loadAgain(img);
    note.remove();
    img.closest(".screen")?.querySelector("h1")?.focus({ preventScroll: true }); // the next key is for the screen
  });
  place.append(note);
}

function loadAgain(img) {
  img.removeAttribute("srcset");
  img.src = `${img.src.split("?")[0]}?again=${Date.now()}`;
}

// What stands in for a screen that is still on its way.
export function pause(words = "") {
  return Object.assign(document.createElement("h1"), { className: "pause", textContent: words, tabIndex: -1 });
}
