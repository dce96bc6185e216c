/* The study page: the chart of judgments per hour, times in the reader's zone, and how fresh it all is.

   The figures come from the server: htmx swaps the parts in, the chart reads the table beneath it. */
"use strict";
const chartBox = document.getElementById("chart");
const freshness = document.getElementById("freshness");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
let chart = null;
let asked = Date.now();
let reached = true;

// Times

const CLOCK = { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false };
const DAY = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false };

function near(moment) {
  return Math.abs(moment - Date.now()) < 6 * 24 * 3600 * 1000;
}

function localise(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    time.textContent = moment.toLocaleString("en-GB", near(moment) ? CLOCK : DAY);
    time.removeAttribute("data-local");
  }
}

// The chart

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function points() {
  const table = document.getElementById("series");
  const hours = Number(table.dataset.minutes) / 60;
  const end = Date.parse(table.dataset.now) - hours * 3_600_000;
  return [...table.querySelectorAll("[data-from]")].map((row) => {
    const from = Date.parse(row.dataset.from);
    return { from, rate: Number(row.dataset.judgments) / hours, running: from > end };
  });
}

function label(moment, width) {
  const date = new Date(moment);
  const options = width >= 1440 ? { day: "numeric", month: "short" } : width >= 360 ? DAY : CLOCK;
  return date.toLocaleString("en-GB", width < 360 ? { ...options, weekday: undefined } : options);
}

function told({ from, rate, running }, width) {
  return `${label(from, width)}\n${Math.round(rate)} an hour${running ? ", still running" : ""}`;
}

function bar({ rate, running }) {
  return { value: rate, itemStyle: { color: colour(running ? "--accent-soft" : "--accent"), borderRadius: [2, 2, 0, 0] } };
}

function draw() {
  if (!chartBox) return; // no figures yet
  const data = points();
  const width = Number(document.getElementById("series").dataset.minutes);
  chartBox.hidden = data.length === 0;
  document.getElementById("series-table").open ||= data.length === 0;
  if (!data.length || !window.echarts) return;
  chart ??= window.echarts.init(chartBox, null, { renderer: "canvas" });
  const quiet = colour("--quiet");
  chart.setOption({
    animation: !still.matches,
    textStyle: { fontFamily: "system-ui, sans-serif", color: quiet },
    grid: { left: 44, right: 14, top: 14, bottom: 26 },
    tooltip: {
      trigger: "axis",
      renderMode: "richText", // HTML tooltips carry inline styles, which the page's policy forbids
      axisPointer: { type: "shadow" },
      backgroundColor: colour("--card"),
      borderColor: colour("--line"),
      textStyle: { color: colour("--ink"), fontSize: 12 },
      formatter: ([bar]) => told(data[bar.dataIndex], width),
    },
    xAxis: {
      type: "category",
      data: data.map(({ from }) => label(from, width)),
      axisLine: { lineStyle: { color: colour("--line") } },
      axisTick: { show: false },
      axisLabel: { color: quiet, fontSize: 11, hideOverlap: true },
    },
    yAxis: {
      type: "value",
      axisLabel: { color: quiet, fontSize: 11 },
      splitLine: { lineStyle: { color: colour("--line") } },
      splitNumber: 3,
    },
    series: [{ type: "bar", data: data.map(bar), barCategoryGap: "18%" }],
  });
}

// How fresh

function tell() {
  const seconds = Math.round((Date.now() - asked) / 1000);
  const poll = document.getElementById("live-poll");
  if (!poll.hasAttribute("hx-get")) return;
  const word = "large" in poll.dataset ? "checked" : "updated"; // a large study says itself of when its figures are
  freshness.textContent = reached ? `${word} ${seconds < 2 ? "now" : `${seconds} s ago`}` : "not updating: the server cannot be reached";
  freshness.classList.toggle("bad", !reached);
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden) event.preventDefault(); // nobody is looking
});
document.addEventListener("htmx:afterRequest", (event) => {
  reached = event.detail.successful === true;
  if (reached) asked = Date.now();
  tell();
});
document.addEventListener("htmx:oobAfterSwap", (event) => {
  localise(event.detail.target);
  if (event.detail.target.id === "live-series") draw();
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const open = [...event.detail.target.querySelectorAll("details[open][id]")].map((details) => details.id);
  for (const id of open) event.detail.fragment.querySelector(`#${id}`)?.setAttribute("open", "");
});

localise(document);
draw();
tell();
setInterval(tell, 1000);
dark.addEventListener("change", draw);
if (chartBox) new ResizeObserver(() => chart?.resize()).observe(chartBox);
