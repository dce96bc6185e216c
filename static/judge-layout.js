// Which layout, and how many columns, shows the pictures largest in this window.

const roomy = matchMedia("(min-width: 900px) and (min-height: 560px)");
const GAP = 12;
const PANEL = { least: 340, most: 580 };

function best(count, aspect, width, height) {
  const tries = Array.from({ length: count }, (_, index) => {
    const cols = index + 1;
    const rows = Math.ceil(count / cols);
    const across = (width - (cols - 1) * GAP) / cols;
    const down = ((height - (rows - 1) * GAP) / rows) * aspect;
    return { cols, rows, w: Math.floor(Math.min(across, down)) };
  });
  return tries.reduce((one, other) => (other.w > one.w ? other : one));
}

function aspectOf(screen) {
  const shapes = [...screen.querySelectorAll("img")].map((img) => img.getAttribute("width") / img.getAttribute("height"));
  return shapes.sort((one, other) => one - other)[shapes.length >> 1] || 1;
}

// Sizes for one screen, set on the desk and on the screen's own cards before it is painted.
export function fit(desk, screen) {
  const cards = screen.querySelector(".cards");
  const count = Number(cards.dataset.count);
  const aspect = aspectOf(screen);
  cards.style.setProperty("--aspect", aspect);
  if (!roomy.matches) return ["--cols", "--rows"].forEach((name) => cards.style.removeProperty(name));
  const top = best(count, aspect, innerWidth - 40, innerHeight - 46 - 96 - 74);
  const side = best(count, aspect, innerWidth - PANEL.least - 64, innerHeight - 32);
  const chosen = side.w > top.w * 1.04 ? side : top;
  desk.dataset.layout = chosen === side ? "side" : "top";
  cards.style.setProperty("--cols", chosen.cols);
  cards.style.setProperty("--rows", chosen.rows);
  const field = chosen.cols * chosen.w + (chosen.cols - 1) * GAP;
  desk.style.setProperty("--field", `${field}px`);
  desk.style.setProperty("--panel", `${Math.max(PANEL.least, Math.min(PANEL.most, innerWidth - field - 64))}px`);
}
