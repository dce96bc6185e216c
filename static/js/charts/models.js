// The kinds of figures that compare models with people; kinds.js has the others.

import { SMALL, decimal, label, line, text, tip, valued } from "./parts.js";

// People's entropy against the models' margin: right of 0, models are right. Shapes distinguish people's answers for
// those who cannot distinguish the colours.

const PEOPLE = [["right", "circle", "accent"], ["wrong", "diamond", "warn"], ["undecided", "rect", "quiet"]];

export function margins({ rows }, look, width) {
  const groups = PEOPLE.map(([people, symbol, colour]) => {
    const these = rows.filter((row) => row.people === people);
    return {
      type: "scatter", name: `people ${people}`, symbol, symbolSize: 8, data: these.map((row) => [row.margin, row.entropy]),
      itemStyle: { color: look[colour], opacity: 0.6 },
    };
  }).filter(({ data }) => data.length);
  const titled = (name, nameGap) => ({ name, nameLocation: "middle", nameGap, nameTextStyle: label(look) });
  const says = ({ seriesName, value: [margin, entropy] }) =>
    `${seriesName}\nmargin ${decimal(margin)}, ${decimal(entropy)} bits`;
  const legend = { top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 14, selectedMode: false };
  return {
    height: width < 480 ? 260 : 320,
    textStyle: text(look),
    grid: { left: 48, right: 18, top: 32, bottom: 44 },
    tooltip: tip(look, says),
    legend: { ...legend, textStyle: { color: look.ink, fontSize: SMALL + 1 } },
    xAxis: valued(look, { axisLine: { show: true, ...line(look) }, ...titled("models’ mean margin", 26) }),
    yAxis: valued(look, { min: 0, ...titled("people’s entropy, bits", 32) }),
    series: groups,
  };
}
