// Draws every <figure data-plot="kind"> from the table beneath it. The table is the data: there is no other copy.
//
// A figure (templates/components/_plot.html) has a place for the drawing, a table that is open if no script runs, and
// buttons. kinds.js defines how each kind looks, save.js makes files of it. The library, the largest part of any page by
// far, is loaded when a figure is in view, or once the page is there if one can be scrolled to or printed.

import { afterSwaps } from "../pages/live.js";
import { KINDS } from "./kinds.js";
import { save } from "./save.js";
import { look, read } from "./table.js";

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const drawn = new Map(); // id of a figure → { box, chart, width }
let asked = false; // for the library
const resized = new ResizeObserver((entries) => {
  requestAnimationFrame(() => entries.forEach(({ target }) => fit(target)));
});

const figures = () => [...document.querySelectorAll("figure[data-plot]")];
const table = (figure) => figure.querySelector("details");

// Existing drawings move into the new figure's empty place, so nothing flickers or restarts.
function placed(figure) {
  const [there, kept] = [figure.querySelector(".drawing"), drawn.get(figure.id)];
  if (kept && kept.box !== there) {
    kept.box.setAttribute("aria-label", there.getAttribute("aria-label"));
    there.replaceWith(kept.box);
  }
  return kept?.box ?? there;
}

function begin(figure, box) {
  const chart = window.echarts.init(box, null, { renderer: "svg" });
  table(figure).open = false;
  drawn.set(figure.id, { box, chart, width: 0 });
}

function draw(figure) {
  const { columns, rows, mark } = read(figure);
  const box = placed(figure);
  box.hidden = rows.length === 0;
  figure.querySelector(".saves").hidden = box.hidden;
  resized.observe(box); // one that is folded is drawn when it opens
  if (box.hidden || !box.clientWidth) return;
  if (!drawn.has(figure.id)) begin(figure, box);
  const { chart } = drawn.get(figure.id);
  const { height, ...option } = KINDS[figure.dataset.plot]({ columns, rows, mark }, look(figure), box.clientWidth);
  box.style.height = `${height}px`;
  chart.resize();
  const animation = drawn.get(figure.id).width > 0 && !still.matches; // at first it would begin with an empty box
  chart.setOption({ animation, ...option }, { notMerge: true });
  drawn.get(figure.id).width = box.clientWidth;
}

function fit(box) {
  const figure = box.closest("figure");
  if (figure && drawn.get(figure.id)?.width !== box.clientWidth) draw(figure);
}

function drawAll() {
  for (const [id, { box, chart }] of drawn) {
    if (document.getElementById(id)) continue;
    chart.dispose(); // its figure is gone
    resized.unobserve(box);
    drawn.delete(id);
  }
  figures().forEach(draw);
}

document.addEventListener("click", ({ target }) => {
  const kind = target.closest?.("[data-save]")?.dataset.save;
  if (kind) save(kind, target.closest("figure"));
});

function load() {
  if (asked) return;
  asked = true;
  const script = document.createElement("script");
  script.src = document.getElementById("plots").dataset.library;
  script.addEventListener("load", () => {
    drawAll();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  });
  script.addEventListener("error", () => figures().forEach((figure) => (table(figure).open = true)));
  document.head.append(script);
}

// Tables close as soon as the page is parsed, and open again if the library does not load.
for (const figure of figures()) table(figure).open = false;
const seen = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) load();
});
figures().forEach((figure) => seen.observe(figure));
window.addEventListener("load", () => figures().some((figure) => figure.checkVisibility()) && load());
afterSwaps(() => (window.echarts ? drawAll() : figures().forEach((figure) => seen.observe(figure))));
