// Models and people on the plane of two measures, with a third as colour; kinds.js has the other kinds.

import { SMALL, label, line, percent, text, tip, valued, whole } from "./parts.js";

const SYMBOLS = { humans: "diamond", models: "circle", reported: "triangle", chance: "rect" };
const FEW = 16; // up to this many rows, names are shown beside them if there is room

function dots(rows, stands, look, coloured, width) {
  const these = rows.filter((row) => row.stands === stands && (row.colour !== null) === coloured);
  const data = these.map((row) => {
    const far = row.x > 0.9; // its name would not fit above it
    return { value: [row.x, row.y, row.colour], row, ...(far ? { label: { position: "left" } } : {}) };
  });
  const names = {
    show: rows.length <= FEW && width >= 480, position: "top", color: look.ink, fontSize: SMALL,
    formatter: ({ data: { row } }) => row.name,
  };
  const style = { borderColor: look.ink, borderWidth: 1, ...(coloured ? {} : { color: look.card }) };
  return {
    type: "scatter", name: stands, symbol: SYMBOLS[stands], symbolSize: stands === "humans" ? 15 : 12,
    data, itemStyle: style, label: names, labelLayout: { hideOverlap: true }, z: 3,
  };
}

// Where both measures are equal.
function diagonal(from, to, look) {
  const style = { color: look.quiet, type: "dashed", width: 1 };
  const still = { silent: true, symbol: "none", animation: false, z: 1 };
  return { type: "line", data: [[from, from], [to, to]], lineStyle: style, ...still };
}

function says(columns, row) {
  const [, x, y, colour] = columns;
  const third = row.colour === null ? "" : `\n${colour.words} ${percent(row.colour)}`;
  return `${row.name} (${row.stands})\n${x.words} ${percent(row.x)}, ${y.words} ${percent(row.y)}${third}`;
}

const tens = (round, share) => Math.min(1, Math.max(0, round(10 * share) / 10));

function scale(words, rows, at, look) {
  const found = rows.map(({ colour }) => colour).filter((share) => share !== null);
  const ends = [tens(Math.floor, Math.min(...found)), tens(Math.ceil, Math.max(...found))];
  const [min, max] = found.length ? ends : [0, 1];
  const values = { dimension: 2, min, max, calculable: false, inRange: { color: [look.low, look.high] } };
  const place = { orient: "horizontal", left: 48, bottom: 0, itemWidth: 12, itemHeight: 130 };
  const told = [`${words} ${whole(max)}`, whole(min)];
  return { type: "continuous", seriesIndex: at, text: told, textStyle: label(look), ...values, ...place };
}

export function scatter({ columns, rows }, look, width) {
  const kinds = Object.keys(SYMBOLS).filter((stands) => rows.some((row) => row.stands === stands));
  const coloured = kinds.map((stands) => dots(rows, stands, look, true, width)).filter(({ data }) => data.length);
  const plain = kinds.map((stands) => dots(rows, stands, look, false, width)).filter(({ data }) => data.length);
  const ends = rows.flatMap(({ x, y }) => [x, y]);
  const [min, max] = [tens(Math.floor, Math.min(...ends) - 0.03), tens(Math.ceil, Math.max(...ends) + 0.03)];
  const titled = (name, nameGap) => ({ name, nameLocation: "middle", nameGap, nameTextStyle: label(look) });
  const axis = { min, max, axisLabel: label(look, { formatter: whole }), axisLine: { show: true, ...line(look) } };
  const legend = { top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 14, selectedMode: false, data: kinds };
  const plainly = { color: look.card, borderColor: look.ink, borderWidth: 1 }; // the colours are of the third measure
  return {
    height: Math.min(520, Math.max(340, 0.6 * width)),
    textStyle: text(look),
    grid: { left: 56, right: 22, top: 34, bottom: 84 },
    tooltip: tip(look, ({ data: { row } }) => row && says(columns, row)),
    legend: { ...legend, itemStyle: plainly, textStyle: { color: look.ink, fontSize: SMALL + 1 } },
    visualMap: scale(columns[3].words, rows, coloured.map((_, place) => place), look),
    xAxis: valued(look, { ...axis, ...titled(columns[1].words, 26) }),
    yAxis: valued(look, { ...axis, ...titled(columns[2].words, 40) }),
    series: [...coloured, ...plain, diagonal(min, max, look)],
  };
}
