// Pictures are loaded a few at a time, in the order in which they will be seen: a slow network carries what is in front
// first, and an answer finds one of the browser's six connections free. What is no longer in sight gives way. Of videos
// (videos.js), those in front are loaded, and of the next screens only as many beginnings as leave such a connection.

const AT_ONCE = 4;
const ADDRESS = ["srcset", "src"];
const loading = new Map(); // picture → its attempt
let wanted = [];

const pictures = (node) => [...node.querySelectorAll("img")];
const videos = (node) => [...node.querySelectorAll("video")];

// Takes the addresses away from what is not in a page yet, so that the browser does not load all at once.
export function hold(node) {
  for (const one of node.querySelectorAll("img, video")) for (const name of ADDRESS) move(one, name, `data-${name}`);
}

// Loads and decodes the pictures of these screens, those of the first one first.
export function load(screens) {
  wanted = screens.flatMap(({ node }) => pictures(node));
  for (const img of loading.keys()) wanted.includes(img) || stop(img);
  wanted.filter((img) => img.src && !img.complete && !loading.has(img)).forEach(follow);
  start();
  const [front = [], ...later] = screens.map(({ node }) => videos(node));
  front.forEach((video) => begin(video, "auto"));
  later.flat().slice(0, Math.max(0, AT_ONCE - front.length)).forEach((video) => begin(video, "metadata"));
}

function begin(video, much) {
  video.preload = much;
  move(video, "data-src", "src");
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
