// The kinds of figures that compare annotators; kinds.js has the others.

import {
  SMALL, beside, count, decimal, label, letters, line, named, percent, text, tip, valued, whole, widest,
} from "./parts.js";

// Kappa of each pair of annotators, in a square. Fields show their numbers if there is room.

const ROOM = 30; // pixels of a field, for its number

const pairSays = (symbol) => ({ data: { row } }) => {
  const kappa = row.kappa === null ? `no ${symbol}` : `${symbol} ${decimal(row.kappa)}`;
  return `${row.first} and ${row.second}: ${kappa}\n${count(row.n)} shared items${row.note && `\n${row.note}`}`;
};

function bothWays(rows, names) {
  const place = (name) => names.indexOf(name);
  return rows.flatMap((row) =>
    [[row.first, row.second], [row.second, row.first]].map(([x, y]) => ({
      row, value: [place(x), place(y), Math.max(0, row.kappa)], // at 0 and below there is no agreement to colour
    })));
}

export function matrix({ columns, rows }, look, width) {
  const symbol = columns.find(({ key }) => key === "kappa").words.trim(); // κ, or τ-b of rankings
  const names = [...new Set(rows.flatMap(({ first, second }) => [first, second]))];
  names.sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const left = 14 + widest(names);
  const side = Math.min(46, Math.max(9, (Math.min(width, 720) - left - 14) / names.length));
  const fields = bothWays(rows, names);
  const axis = {
    type: "category", data: names, axisLine: { show: false }, axisTick: { show: false },
    axisLabel: { color: look.ink, fontSize: side < 16 ? 9 : SMALL, interval: 0 },
  };
  const known = {
    type: "heatmap", data: fields.filter(({ row }) => row.kappa !== null),
    itemStyle: { borderColor: look.card, borderWidth: 1 },
    label: { show: side >= ROOM, fontSize: SMALL, formatter: ({ data: { row } }) => decimal(row.kappa) },
  };
  const unknown = {
    type: "scatter", data: fields.filter(({ row }) => row.kappa === null), symbol: "rect",
    symbolSize: Math.max(4, side - 3), itemStyle: { color: look.card, borderColor: look.quiet },
  };
  const scale = {
    type: "continuous", seriesIndex: 0, dimension: 2, min: 0, max: 1, calculable: false, orient: "horizontal",
    left, bottom: 4, itemWidth: 12, itemHeight: 130, text: [`${symbol} 1`, "0 and below"], textStyle: label(look),
    inRange: { color: [look.low, look.high] },
  };
  return {
    height: side * names.length + left + 60,
    textStyle: text(look),
    grid: { left, right: Math.max(14, width - left - side * names.length), top: 4, bottom: left + 56 },
    tooltip: tip(look, pairSays(symbol)),
    visualMap: scale,
    xAxis: { ...axis, axisLabel: { ...axis.axisLabel, rotate: 90 } },
    yAxis: { ...axis, inverse: true },
    series: [known, unknown],
  };
}

// The answers of everybody and of each annotator, each as a bar of shares.

export function mix({ columns, rows }, look, width) {
  const { left, axis } = named(rows.map(({ who }) => who), look, width);
  const answers = columns.slice(2);
  const plot = width - left - 18;
  const keys = Math.ceil(answers.reduce((sum, { words }) => sum + letters(words) + 44, 0) / width); // lines of them
  const inside = ({ value }) => (value * plot > 34 ? whole(value) : "");
  const says = ({ name, seriesName, value }) => `${name}\n${seriesName}: ${percent(value)}`;
  const bars = answers.map(({ key, words }, place) => ({
    type: "bar", name: words, stack: "all", barWidth: 16, data: rows.map((row) => row[key] / row.judgments),
    itemStyle: { color: look.mix[place % look.mix.length], borderColor: look.card, borderWidth: 0.5 },
    label: { show: true, color: "#111111", fontSize: SMALL, formatter: inside },
  }));
  const legend = { top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 14, selectedMode: false };
  return {
    height: 22 * rows.length + 22 * keys + 36,
    textStyle: text(look),
    grid: { left, right: 18, top: 22 * keys + 6, bottom: 26 },
    tooltip: tip(look, says),
    legend: { ...legend, textStyle: { color: look.ink, fontSize: SMALL + 1 } },
    xAxis: valued(look, { max: 1, interval: 0.25, axisLabel: label(look, { formatter: whole }) }),
    yAxis: axis,
    series: bars,
  };
}

// Judgments by the seconds that they took, with a line across. The open-ended bin is drawn as wide as the others.

function timeSays({ from, to, judgments, share }) {
  const span = to === null ? `${from} s or more` : `${from} to ${to} s`;
  return `${span}\n${count(judgments)} judgments, ${percent(share)}`;
}

function column(rows, edges, look) {
  return ({ dataIndex: place }, api) => {
    const [x, top] = api.coord([edges[place][0], rows[place].judgments]);
    const [end, ground] = api.coord([edges[place][1], 0]);
    const shape = { x: x + 0.5, y: top, width: Math.max(1, end - x - 1), height: ground - top };
    return { type: "rect", shape, style: { fill: rows[place].to === null ? look["accent-soft"] : look.accent } };
  };
}

export function across(mark, look, type = "solid", position = "end") {
  const says = { show: true, formatter: mark.words, position, align: "left", offset: [-2, 0] };
  return {
    silent: true, symbol: "none", animation: false, data: [{ xAxis: mark.value }],
    lineStyle: { color: look.warn, width: 2, type },
    label: { ...says, color: look.warn, fontSize: SMALL + 1 },
  };
}

export function times({ rows, mark }, look, width) {
  const last = rows.at(-1);
  const end = last.from + rows[0].to - rows[0].from;
  const edges = rows.map(({ from, to }) => [from, to ?? end]);
  const name = last.to === null ? `seconds; the last bar: ${last.from} and more` : "seconds";
  const bars = {
    type: "custom", renderItem: column(rows, edges, look), encode: { x: 0, y: 1 },
    data: rows.map(({ judgments }, place) => [(edges[place][0] + edges[place][1]) / 2, judgments]),
    markLine: mark && across(mark, look),
  };
  const axisName = { name, nameLocation: "middle", nameGap: 26, nameTextStyle: label(look) };
  const axisLine = { show: true, ...line(look) };
  return {
    height: width < 480 ? 220 : 260,
    textStyle: text(look),
    grid: { left: beside(Math.max(...rows.map(({ judgments }) => judgments))), right: 18, top: 24, bottom: 42 },
    tooltip: tip(look, ({ dataIndex }) => timeSays(rows[dataIndex])),
    xAxis: valued(look, { min: 0, max: end, splitLine: { show: false }, axisLine, ...axisName }),
    yAxis: valued(look, { splitNumber: 3 }),
    series: [bars],
  };
}
