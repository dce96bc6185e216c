// A figure as a file: the drawing on white paper with its title and moment (SVG, PNG), or its table (CSV).

import { KINDS } from "./kinds.js";
import { csv, look, read } from "./table.js";

const WIDTH = 760; // of paper, in pixels
const HEAD = 56; // room for the title and what it is of
const FINE = 3; // pixels of a PNG for each of the drawing's

export function save(kind, figure) {
  ({ svg: saveDrawing, png: savePicture, csv: saveTable })[kind](figure);
}

function saveTable(figure) {
  offer(new Blob([csv(figure)], { type: "text/csv" }), figure, "csv");
}

function saveDrawing(figure) {
  const { chart } = onPaper(figure, null, { renderer: "svg", ssr: true });
  offer(new Blob([chart.renderToSVGString()], { type: "image/svg+xml" }), figure, "svg");
  chart.dispose();
}

function savePicture(figure) {
  const canvas = document.createElement("canvas");
  const { chart } = onPaper(figure, canvas, { renderer: "canvas", devicePixelRatio: FINE });
  canvas.toBlob((picture) => {
    offer(picture, figure, "png");
    chart.dispose();
  }, "image/png");
}

// The same drawing in paper colours, without animation, beneath its title.
function onPaper(figure, root, options) {
  const sheet = document.createElement("div");
  sheet.className = "on-paper";
  figure.append(sheet); // colours can be read only from elements in the page
  const colours = look(sheet);
  sheet.remove();
  const { height, grid, ...option } = KINDS[figure.dataset.plot](read(figure), colours, WIDTH);
  const type = { fontFamily: colours.font };
  const chart = window.echarts.init(root, null, { ...options, width: WIDTH, height: height + HEAD });
  chart.setOption({
    ...option,
    animation: false,
    backgroundColor: "#ffffff",
    grid: { ...grid, top: grid.top + HEAD },
    title: {
      text: figure.dataset.title,
      subtext: `${figure.dataset.of} · ${figure.dataset.at}`,
      left: 14,
      top: 10,
      textStyle: { ...type, color: colours.ink, fontSize: 15 },
      subtextStyle: { ...type, color: colours.quiet, fontSize: 12, width: WIDTH - 28, overflow: "truncate" },
    },
    ...(option.legend && { legend: { ...option.legend, top: (option.legend.top ?? 0) + HEAD } }),
  });
  return { chart };
}

function offer(blob, figure, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${figure.dataset.file}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
