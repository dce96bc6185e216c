// Videos lie over their posters, in the browser's own player. None plays by itself, and each begins without sound. Keys
// are for all videos in sight at once: Space plays or pauses them, a comma and a point step back and forward.

const STEP = 0.1; // seconds
const KEYS = { ",": -STEP, "<": -STEP, ".": STEP, ">": STEP };
const PLACES = { Comma: -STEP, Period: STEP }; // of the keys where a layout has letters of its own there (Cyrillic)

const inSight = (node) => [...node.querySelectorAll("video")].filter((video) => video.checkVisibility());

// Whether the browser's player is to have the key: its buttons and its line have the focus.
export const ownsKey = ({ target, key }) => Boolean(target.matches?.("video")) && /^( |Enter|Arrow.*)$/.test(key);

// Whether the key did something to the videos of a screen.
export function videoKey(event, screen) {
  const videos = screen ? inSight(screen.node) : [];
  if (!videos.length) return false;
  if (event.key === " ") return event.repeat || play(videos), true;
  const by = KEYS[event.key] ?? (/^[\0-\x7f]*$/.test(event.key) ? undefined : PLACES[event.code]);
  if (by) videos.forEach((video) => step(video, by));
  return Boolean(by);
}

// All begin together, those at their end anew.
function play(videos) {
  const playing = videos.some((video) => !video.paused && !video.ended);
  for (const video of videos) playing ? video.pause() : video.play().catch(() => {}); // one that did not load says so
}

function step(video, by) {
  video.pause();
  video.currentTime = Math.max(0, Math.min(video.duration || 0, video.currentTime + by));
}
