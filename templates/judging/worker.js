// The service worker of an annotator's pages: without a connection, or while the server restarts, the browser shows a
// page of ours that says which answers are stored on the device, instead of its own error. What it keeps is the same for
// everybody; no page of an annotator is ever kept.

const CACHE = "winnow-offline-{{ language }}";
const [PAGE, ...FILES] = {{ kept|safe }};
const AWAY = [502, 503, 504]; // a proxy's words for a server that does not answer

addEventListener("install", (event) => event.waitUntil(keep().then(() => skipWaiting())));

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll([new Request(PAGE, { cache: "reload" }), ...FILES]);
  const gone = (await cache.keys()).filter(({ url }) => ![PAGE, ...FILES].includes(new URL(url).pathname));
  await Promise.all(gone.map((request) => cache.delete(request)));
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const opens = request.mode === "navigate";
  const url = opens ? PAGE : new URL(request.url).pathname;
  if (request.method !== "GET" || !(opens || FILES.includes(url))) return;
  const kept = () => caches.match(url, { cacheName: CACHE });
  event.respondWith(fetch(request).then((answer) => (opens && AWAY.includes(answer.status) ? kept() : answer), kept));
});
