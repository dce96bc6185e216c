// Pictures are loaded a few at a time, in the order in which they will be seen: a slow network carries what is in front
// first, and an answer finds one of the browser's six connections free. What is no longer in sight gives way.

const AT_ONCE = 4;
const ADDRESS = ["srcset", "src"];
const loading = new Map(); // picture → its attempt
let wanted = [];

const pictures = (node) => [...node.querySelectorAll("img")];

// Takes the addresses away from what is not in a page yet, so that the browser does not load all at once.
export function hold(node) {
  for (const img of pictures(node)) for (const name of ADDRESS) move(img, name, `data-${name}`);
}

// Loads and decodes the pictures of these screens, those of the first one first.
export function load(screens) {
  wanted = screens.flatMap(({ node }) => pictures(node));
  for (const img of loading.keys()) wanted.includes(img) || stop(img);
  wanted.filter((img) => img.src && !img.complete && !loading.has(img)).forEach(follow);
  start();
}

function start() {
  for (const img of wanted) {
    if (loading.size >= AT_ONCE) return;
    if (!img.dataset.src) continue;
    for (const name of ADDRESS) move(img, `data-${name}`, name);
    follow(img);
  }
}

function follow(img) {
  const attempt = Symbol("attempt");
  loading.set(img, attempt);
  const ended = () => loading.get(img) === attempt && loading.delete(img) && start();
  img.decode().then(ended, ended);
}

function stop(img) {
  loading.delete(img);
  for (const name of ADDRESS) move(img, name, `data-${name}`);
}

function move(img, from, to) {
  if (!img.hasAttribute(from)) return;
  img.setAttribute(to, img.getAttribute(from));
  img.removeAttribute(from);
}
