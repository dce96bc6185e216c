// Which layout, and how many columns, shows the pictures largest in this window.

const roomy = matchMedia("(min-width: 900px) and (min-height: 560px)");
const tall = matchMedia("(min-height: 560px)"); // here the style gives the pictures whatever height is left
const GAP = 12;
const PANEL = { least: 340, wordy: 500, most: 580 };
const TAKEN = 46 + 96 + 74; // of the height in the layout "top": status, sentence, buttons
const SENTENCES = 110;

const larger = (one, other) => (other.area > one.area ? other : one);

// Cells of the pictures' shape, which all of a screen share, in as many columns as show most; in a row, side by side.
function best({ count, aspect, row }, width, height) {
  const tries = Array.from({ length: count }, (_, index) => {
    const cols = index + 1;
    const rows = Math.ceil(count / cols);
    const across = (width - (cols - 1) * GAP) / cols;
    const down = ((height - (rows - 1) * GAP) / rows) * aspect;
    const w = Math.floor(Math.min(across, down));
    return { cols, rows, area: (count * w * w) / aspect, field: cols * w + (cols - 1) * GAP };
  });
  return row ? tries.at(-1) : tries.reduce(larger);
}

// Lays one screen out that is in its place and not painted yet.
export function fit(desk, screen) {
  size(desk, screen);
  for (const words of screen.querySelectorAll(WORDS)) {
    signal(words);
    words.onscroll = () => signal(words);
  }
}

// Words that scroll: those with more below say so.
const WORDS = ".prompt, .texts, .edit-body, .compare, .rank, .questions";
const signal = (words) => words.classList.toggle("more", words.scrollHeight - words.scrollTop > words.clientHeight + 4);

// Sizes, set on the desk and on the screen's own cards.
function size(desk, screen) {
  const cards = [...screen.querySelectorAll(".cards")].find((one) => one.querySelector("img"));
  const own = screen.querySelector(".declared");
  if (!cards || own) desk.dataset.layout = own || screen.dataset.form ? "words" : "top";
  if (!cards) return;
  if (own) {
    own.querySelectorAll(".cards").forEach(within);
    return anew(screen, cards, roomy.matches ? "words" : tall.matches ? "phone" : "low");
  }
  const cells = cellsOf(cards);
  const { aspect } = cells;
  cards.style.setProperty("--aspect", aspect);
  if (!tall.matches) {
    ["--cols", "--rows"].forEach((name) => cards.style.removeProperty(name));
    return anew(screen, cards, "low");
  }
  const chosen = roomy.matches ? beside(desk, screen, cells) : left(cards, cells);
  cards.style.setProperty("--cols", chosen.cols);
  cards.style.setProperty("--rows", chosen.rows);
  anew(screen, cards, roomy.matches ? desk.dataset.layout : "phone");
  const words = screen.querySelector("h1");
  if (words) words.tabIndex = [words, words.parentElement].some((one) => one.scrollHeight > one.clientHeight + 1) ? 0 : -1; // it scrolls by key
}

// An item may lack the picture of a role that is optional.
function cellsOf(cards) {
  const pictures = cards.querySelectorAll("img");
  const aspect = pictures[0]?.getAttribute("width") / pictures[0]?.getAttribute("height") || 1;
  return { count: pictures.length, aspect, row: "row" in cards.dataset };
}

// Where the style says how much room the pictures have, they take it.
function within(cards) {
  const cells = cellsOf(cards);
  const { count, aspect } = cells;
  const place = cards.parentElement;
  place.style.maxHeight = "";
  const { width, height } = place.getBoundingClientRect();
  const { cols, rows, field } = tall.matches && width && count ? best(cells, width, height) : {};
  for (const [name, value] of Object.entries({ aspect, cols, rows })) {
    if (value) cards.style.setProperty(`--${name}`, value);
    else cards.style.removeProperty(`--${name}`);
  }
  if (cols && !roomy.matches) place.style.maxHeight = `${Math.ceil(((field + GAP) / cols - GAP) * rows / aspect + (rows - 1) * GAP)}px`;
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
function beside(desk, screen, cells) {
  const taken = TAKEN + (screen.querySelector(".texts") ? SENTENCES : 0);
  const top = best(cells, innerWidth - 40, innerHeight - taken);
  const least = screen.querySelector(".texts.very-long, .texts.tiny") ? PANEL.wordy : PANEL.least;
  const side = best(cells, innerWidth - least - 64, innerHeight - 32);
  const chosen = side.area > top.area * 1.08 ? side : top;
  desk.dataset.layout = chosen === side ? "side" : "top";
  desk.style.setProperty("--panel", `${Math.max(least, Math.min(PANEL.most, innerWidth - chosen.field - 64))}px`);
  return chosen;
}

// What the words leave free on a phone.
function left(cards, cells) {
  const { width, height } = cards.parentElement.getBoundingClientRect();
  return best(cells, width, height);
}
