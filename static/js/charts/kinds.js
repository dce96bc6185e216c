// How each kind of figure looks: (data, colours, width in pixels) → options for ECharts, and its height. The data is
// what table.js read from the table.

import { inZone } from "../pages/live.js";
import {
  SMALL, beside, count, decimal, label, letters, line, named, percent, text, tip, valued, whole,
} from "./parts.js";
import { margins } from "./models.js";
import { across, matrix, mix, times } from "./people.js";
import { scatter } from "./plane.js";

// The funnel: a bar of all imported items, then one per stage with its kept, dropped and open items.

const PARTS = [
  ["kept", "accent", "accent-ink"], ["dropped", "dropped", "on-dropped"], ["open", "wash", "quiet"],
  ["items", "accent-soft", "ink"],
];

function stepSays(row, narrow = false) {
  if (row.kept === null) {
    return row.questions ? `${count(row.answered)} of ${count(row.questions)} questions answered` : "";
  }
  const shares = ["kept", "dropped"].filter((part) => row[part]).map((part) => {
    const share = percent(row[`${part}_share`]);
    return narrow ? `${share} ${part}` : `${count(row[part])} ${part} (${share})`;
  });
  const rest = ["open", "waiting"].filter((part) => row[part] && !narrow);
  const said = rest.map((part) => `${count(row[part])} ${part === "open" ? "open" : "waiting"}`);
  return [...shares, ...said].join(" · ") || "nothing yet";
}

// The label in a part of a bar: as much as fits.
function inPart(name, room) {
  return ({ value }) => {
    const short = count(value);
    const long = name === "items" ? short : `${short} ${name}`;
    return [long, short].find((said) => room(value) > letters(said) + 18) ?? "";
  };
}

function funnel({ rows }, look, width) {
  const { left, axis } = named(rows.map(({ step }) => step), look, width);
  const imported = Math.max(1, rows[0].items);
  const room = (value) => (value / imported) * (width - left - 14);
  const value = (row, part) => (part === "items" && row.kept !== null ? 0 : row[part] || 0);
  const beneath = { formatter: ({ dataIndex }) => stepSays(rows[dataIndex], width < 480), position: [2, 28] };
  const ground = {
    type: "bar", data: rows.map(() => imported), barWidth: 24, barGap: "-100%", silent: true, z: 1,
    itemStyle: { color: look.wash, borderRadius: 3 }, label: label(look, { show: true, ...beneath }),
  };
  const stacked = PARTS.map(([part, fill, ink]) => ({
    type: "bar", name: part, stack: "items", barWidth: 24, z: 3, itemStyle: { color: look[fill] },
    data: rows.map((row) => value(row, part)),
    label: { show: true, position: "insideLeft", color: look[ink], fontSize: SMALL + 1, formatter: inPart(part, room) },
  }));
  const says = (row) => `${row.step}: ${count(row.items)} items\n${stepSays(row)}`;
  return {
    height: 52 * rows.length + 8,
    textStyle: text(look),
    grid: { left, right: 14, top: 0, bottom: 8 },
    tooltip: tip(look, ({ dataIndex }) => says(rows[dataIndex])),
    xAxis: { type: "value", max: imported, show: false },
    yAxis: axis,
    series: [ground, ...stacked],
  };
}

// A value and its interval in each row, on an axis up to 1, or further where values are.

function lowest(rows) {
  const ends = rows.flatMap(({ value, low }) => [value, low]).filter((end) => end !== null);
  return [0, -0.5, -1].find((start) => Math.min(...ends, 0) >= start) ?? Math.floor(Math.min(...ends));
}

function highest(rows) {
  return Math.ceil(Math.max(1, ...rows.flatMap(({ value, high }) => [value ?? 0, high ?? 0])));
}

function whisker(look) {
  return (params, api) => {
    const [from, y] = api.coord([api.value(1), api.value(0)]);
    const [to] = api.coord([api.value(2), api.value(0)]);
    return { type: "line", shape: { x1: from, y1: y, x2: to, y2: y }, style: { stroke: look.accent, lineWidth: 2 } };
  };
}

function intervalSays(row, say) {
  if (row.value === null) return `${row.name}: not defined${row.note && `, ${row.note}`}`;
  const span = row.low === null ? "" : `\n95% from ${say(row.low)} to ${say(row.high)}`;
  return `${row.name}: ${say(row.value)}${span}${row.n === null ? "" : `\nn = ${count(row.n)}`}`;
}

function intervals({ columns, rows, mark }, look, width) {
  const isShare = columns.some(({ key, form }) => key === "value" && form === "share");
  const { left, axis } = named(rows.map(({ name }) => name), look, width);
  const ends = rows.flatMap(({ value, low }) => [low ?? value ?? 1]);
  const min = mark ? Math.floor(10 * Math.min(mark.value, ...ends)) / 10 : lowest(rows); // of shares beside chance
  const max = highest(rows);
  const say = isShare ? percent : decimal;
  const tick = isShare ? (share) => `${Math.round(100 * share)}%` : decimal;
  const step = mark ? 0.1 : max > 1 || min < -1 ? 1 : min < 0 ? 0.5 : 0.25; // two decimals show each tick as it is
  const spans = rows.flatMap(({ low, high }, place) => (low === null ? [] : [[place, low, high]]));
  const isDrawn = ({ low }) => low !== null; // a value of one item looks like a finding
  const lacks = ({ value, n }) => (value === null ? "not defined" : `${say(value)} (n = ${count(n)}: no interval)`);
  const dots = rows.map((row, place) => ({
    value: [isDrawn(row) ? row.value : min, place],
    symbolSize: isDrawn(row) ? 10 : 0,
    label: label(look, { show: !isDrawn(row), formatter: lacks(row), position: "right" }),
  }));
  const values = rows.map((row) => (isDrawn(row) ? say(row.value) : ""));
  const right = { ...named(values, look, width).axis, position: "right" };
  const at = ({ seriesType, dataIndex, value }) => rows[seriesType === "scatter" ? dataIndex : value[0]];
  return {
    height: 30 * rows.length + (mark ? 52 : 34),
    textStyle: text(look),
    grid: { left, right: 20 + letters("100.0%"), top: mark ? 24 : 6, bottom: 28 },
    tooltip: tip(look, (params) => intervalSays(at(params), say)),
    xAxis: valued(look, { min, max, interval: step, axisLabel: label(look, { formatter: tick, hideOverlap: true }) }),
    yAxis: [axis, right],
    series: [
      { type: "custom", renderItem: whisker(look), data: spans, encode: { x: [1, 2], y: 0 }, z: 2 },
      {
        type: "scatter", data: dots, itemStyle: { color: look.accent }, z: 3,
        markLine: mark && across(mark, look, "dashed", "start"),
      },
    ],
  };
}

// Judgments in equal spans; the last span may still be running.

const LONG = 6 * 3_600_000; // milliseconds; the hour says nothing about longer spans

function series({ rows }, look, width) {
  const moments = rows.map(({ from }) => new Date(from));
  const day = (moment) => moment.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  const say = rows.length > 1 && moments[1] - moments[0] >= LONG ? day : inZone;
  const running = (row) => row.span !== "over";
  const says = (row, moment) =>
    `${inZone(moment)}\n${count(row.judgments)} judgments${running(row) ? "\nstill running" : ""}`;
  const bars = rows.map((row) => ({
    value: row.judgments,
    itemStyle: { color: running(row) ? look["accent-soft"] : look.accent, borderRadius: [2, 2, 0, 0] },
  }));
  const axes = { trigger: "axis", axisPointer: { type: "shadow" } };
  return {
    height: width < 480 ? 170 : 190,
    textStyle: text(look),
    grid: { left: beside(Math.max(...rows.map(({ judgments }) => judgments))), right: 14, top: 14, bottom: 26 },
    tooltip: tip(look, ([{ dataIndex }]) => says(rows[dataIndex], moments[dataIndex]), axes),
    xAxis: {
      type: "category", data: moments.map(say), axisLine: line(look), axisTick: { show: false },
      axisLabel: label(look, { hideOverlap: true }),
    },
    yAxis: valued(look, { splitNumber: 3 }),
    series: [{ type: "bar", data: bars, barCategoryGap: "18%", barMaxWidth: 48 }],
  };
}

// A share and its interval, which narrows as items are judged.

function band({ rows, mark }, look, width) {
  const says = ({ n, estimate, low, high }) =>
    `${count(n)} items judged\n${percent(estimate)}\n95% from ${percent(low)} to ${percent(high)}`;
  const area = { type: "line", stack: "band", symbol: "none", silent: true, lineStyle: { opacity: 0 } };
  const shape = { color: look["accent-soft"], opacity: 1 };
  const dots = rows.length === 1 ? 8 : 0;
  const upTo = rows.some(({ high }) => high > 0.8) ? { max: 1, interval: 0.25 } : {};
  const goal = mark && across(mark, look, "dashed", "insideEndTop");
  return {
    height: width < 480 ? 200 : 240,
    textStyle: text(look),
    grid: { left: 46, right: 18, top: 14, bottom: 28 },
    tooltip: tip(look, (all) => says(rows[all[0].dataIndex]), { trigger: "axis" }),
    xAxis: valued(look, { min: 0, minInterval: 1, splitLine: { show: false }, axisLine: line(look) }),
    yAxis: valued(look, { min: 0, ...upTo, axisLabel: label(look, { formatter: whole }) }),
    series: [
      { ...area, data: rows.map(({ n, low }) => [n, low]) },
      { ...area, data: rows.map(({ n, low, high }) => [n, high - low]), areaStyle: shape },
      {
        type: "line", data: rows.map(({ n, estimate }) => [n, estimate]), symbol: "circle", symbolSize: dots,
        lineStyle: { color: look.accent, width: 2 }, itemStyle: { color: look.accent },
        markLine: goal && { ...goal, data: [{ yAxis: mark.value }], label: { ...goal.label, align: "right" } },
      },
    ],
  };
}

export const KINDS = { band, funnel, intervals, series, matrix, mix, times, margins, scatter };
