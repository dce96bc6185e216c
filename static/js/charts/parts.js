// What the kinds of figures share: type, axes, tooltips, number formats.

export const SMALL = 11; // pixels of type

export const count = (value) => value.toLocaleString("en-GB");
export const decimal = (value) => fixed(value, 2).replace("-", "−");
export const percent = (share) => `${fixed(100 * share, 1)}%`;
export const whole = (share) => `${Math.round(100 * share)}%`;

// A number halfway between two goes to the even one, as on the server: 91.25 is 91.2 in a table and in its plot.
function fixed(value, places) {
  const halfway = new RegExp(`\\.\\d{${places}}50*$`).test(value.toFixed(20));
  return (halfway ? (2 * Math.round((value * 10 ** places) / 2)) / 10 ** places : value).toFixed(places);
}

// The approximate width of a text in pixels.
export const letters = (text) => 6.2 * text.length;
export const widest = (texts) => Math.max(...texts.map(letters));

export const text = (look) => ({ fontFamily: look.font, color: look.quiet });
export const line = (look) => ({ lineStyle: { color: look.line } });
export const label = (look, more = {}) => ({ color: look.quiet, fontSize: SMALL, ...more });

// No HTML tooltips: they carry inline styles, which the page's policy forbids.
export function tip(look, formatter, more = {}) {
  const textStyle = { color: look.ink, fontSize: 12 };
  const box = { backgroundColor: look.card, borderColor: look.line, textStyle };
  return { renderMode: "richText", confine: true, ...box, formatter, ...more };
}

// Names on the left, one per row, the first on top; they take at most 38% of the width.
export function named(names, look, width) {
  const left = Math.min(0.38 * width, 16 + 1.15 * widest(names));
  const axisLabel = { color: look.ink, fontSize: SMALL + 1, width: left - 10, overflow: "break", lineHeight: 13, height: 26, lineOverflow: "truncate", interval: 0 };
  const bare = { axisLine: { show: false }, axisTick: { show: false } };
  return { left, axis: { type: "category", inverse: true, data: names, axisLabel, ...bare } };
}

export function valued(look, more = {}) {
  const axisLabel = label(look, { hideOverlap: true });
  return { type: "value", axisLabel, splitLine: line(look), splitNumber: 4, ...more };
}

// Room for the counts at the left of an axis.
export const beside = (most) => Math.max(34, 14 + letters(count(Math.round(most))));
