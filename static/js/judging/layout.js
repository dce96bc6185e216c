// Which layout, and how many columns, shows the pictures largest in this window.

const roomy = matchMedia("(min-width: 900px) and (min-height: 560px)");
const tall = matchMedia("(min-height: 560px)"); // here the style gives the pictures whatever height is left
const GAP = 12;
const PANEL = { least: 340, wordy: 500, most: 580 };
const TAKEN = 46 + 96 + 74; // of the height in the layout "top": status, sentence, buttons
const SENTENCES = 110;

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const larger = (one, other) => (other.area > one.area ? other : one);

// Equal cells of the shape in the middle, in as many columns as show most; two pictures also in one row, equally high.
function best(shapes, width, height) {
  const aspect = middle(shapes);
  const tries = shapes.map((_, index) => {
    const cols = index + 1;
    const rows = Math.ceil(shapes.length / cols);
    const across = (width - (cols - 1) * GAP) / cols;
    const down = ((height - (rows - 1) * GAP) / rows) * aspect;
    const w = Math.floor(Math.min(across, down));
    const area = sum(shapes.map((shape) => Math.min(w, (w / aspect) * shape) ** 2 / shape));
    return { cols, rows, area, field: cols * w + (cols - 1) * GAP };
  });
  if (shapes.length === 2) tries.push(pair(sum(shapes), width, height));
  return tries.reduce(larger);
}

function pair(shape, width, height) {
  const h = Math.floor(Math.min(height, (width - GAP) / shape));
  return { cols: 2, rows: 1, pair: true, area: h * h * shape + 1, field: h * shape + GAP };
}

const middle = (shapes) => [...shapes].sort((one, other) => one - other)[shapes.length >> 1];
const shapeOf = (img) => img.getAttribute("width") / img.getAttribute("height") || 1;

// Sizes for one screen that is in its place and not painted yet, set on the desk and on the screen's own cards.
export function fit(desk, screen) {
  const cards = screen.querySelector(".cards");
  if (!cards) return (desk.dataset.layout = "words");
  const shapes = [...cards.querySelectorAll("img")].map(shapeOf);
  cards.style.setProperty("--aspect", middle(shapes));
  shapes.forEach((shape, index) => cards.style.setProperty(`--shape-${index + 1}`, shape));
  cards.classList.remove("pair");
  if (!tall.matches) {
    ["--cols", "--rows"].forEach((name) => cards.style.removeProperty(name));
    return anew(screen, cards, "low");
  }
  const chosen = roomy.matches ? beside(desk, screen, shapes) : left(cards, shapes);
  cards.classList.toggle("pair", Boolean(chosen.pair));
  cards.style.setProperty("--cols", chosen.cols);
  cards.style.setProperty("--rows", chosen.rows);
  anew(screen, cards, roomy.matches ? desk.dataset.layout : "phone");
  const words = screen.querySelector("h1");
  words.tabIndex = [words, words.parentElement].some((one) => one.scrollHeight > one.clientHeight + 1) ? 0 : -1; // it scrolls by key
}

// Put in again where the layout is another than before: Chromium leaves out the pictures that stood there.
function anew(screen, cards, layout) {
  if (cards.dataset.layout === layout) return;
  const focused = document.activeElement;
  cards.dataset.layout = layout;
  screen.parentElement.append(screen);
  if (screen.contains(focused)) focused.focus({ preventScroll: true });
}

// Words above the pictures, or in a panel beside them.
function beside(desk, screen, shapes) {
  const taken = TAKEN + (screen.querySelector(".texts") ? SENTENCES : 0);
  const top = best(shapes, innerWidth - 40, innerHeight - taken);
  const least = screen.querySelector(".texts.very-long, .texts.tiny") ? PANEL.wordy : PANEL.least;
  const side = best(shapes, innerWidth - least - 64, innerHeight - 32);
  const chosen = side.area > top.area * 1.08 ? side : top;
  desk.dataset.layout = chosen === side ? "side" : "top";
  desk.style.setProperty("--field", `${Math.ceil(chosen.field)}px`);
  desk.style.setProperty("--panel", `${Math.max(least, Math.min(PANEL.most, innerWidth - chosen.field - 64))}px`);
  return chosen;
}

// What the words leave free on a phone.
function left(cards, shapes) {
  const { width, height } = cards.parentElement.getBoundingClientRect();
  return best(shapes, width, height);
}
