"use strict";
/* uPlot options of a panel: scales, axes and lines. PanelPen draws everything else. */
const DASHES = {
  solid: [], dashed: [6, 4], dotdashed: [8, 3, 2, 3], dotted: [1.5, 3], baseline: [5, 4],
};
const ROOMY = 560; // minimum width in pixels for row names in a separate column

/** @param look colours of the page, and the index of the selected point */
function options(panel, look) {
  const pen = new PanelPen(panel, look);
  const byRow = panel.rows.length > 0;
  return {
    width: 300, height: 230, legend: { show: false },
    padding: [panel.band || panel.rule ? 40 : 10, 14, 0, byRow ? 14 : 0],
    cursor: { x: !byRow, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, distr: !byRow && panel.logarithmic ? 3 : 1, range: () => sides(panel) },
      y: { range: () => (byRow ? [-0.5, panel.rows.length - 0.4] : panel.ends) },
    },
    axes: byRow ? rowAxes(panel, look) : axes(panel, look),
    series: [{}, ...panel.lines.map((line) => series(line, look))],
    hooks: { drawAxes: [(u) => pen.behind(u)], draw: [(u) => pen.before(u)] },
  };
}

function series(line, look) {
  return {
    stroke: () => look.hue(line), width: line.even ? 1.2 : 1.8, dash: DASHES[line.stroke],
    spanGaps: true, points: { show: false },
  };
}

/** Limits of x. */
function sides(panel) {
  if (panel.rows.length) return panel.ends;
  const [first] = panel.ticks[0], [last] = panel.ticks.at(-1);
  const margin = 0.04 * (last - first);
  return panel.logarithmic ? [first / 1.18, last * 1.18] : [first - margin, last + margin];
}

function dressed(look, more) {
  return {
    stroke: () => look.colour("--soft"), font: look.font(12), ticks: { show: false }, ...more,
    grid: { stroke: () => look.colour("--rule"), width: 1, show: more.lined },
  };
}

function beneath(panel, look, more) {
  return dressed(look, {
    gap: 4, size: 26, label: panel.x, labelSize: 20, labelGap: 0, labelFont: look.font(12),
    filter: (u, splits) => splits, ...more,
  });
}

function axes(panel, look) {
  const size = (u, words) => width(u, words, look) + 12;
  return [
    beneath(panel, look, {
      lined: false, splits: () => panel.ticks.map(([place]) => place),
      values: (u) => apart(u, panel.ticks, look),
    }),
    dressed(look, { lined: true, gap: 8, size, values: numbers, space: 36 }),
  ];
}

function rowAxes(panel, look) {
  const roomy = (u) => u.width > ROOMY;
  return [
    beneath(panel, look, { lined: true, values: numbers }),
    dressed(look, {
      lined: true, gap: 8, stroke: () => look.colour("--ink"),
      size: (u, words) => (roomy(u) ? width(u, words, look) + 12 : 0),
      splits: () => panel.rows.map((_, row) => row),
      values: (u) => panel.rows.map((name) => (roomy(u) ? name : "")),
    }),
  ];
}

/** Format axis numbers with as many decimals as the step has, so that labels differ. */
function numbers(u, splits, axis, space, step) {
  const decimals = (String(step).split(".")[1] ?? "").length;
  return splits.map((value) => value.toFixed(decimals));
}

/** Width of the widest label, in CSS pixels. */
function width(u, labels, look) {
  u.ctx.font = look.font(12);
  return Math.ceil(Math.max(0, ...(labels ?? []).map((label) => u.ctx.measureText(label).width)));
}

/** Labels of ticks, empty for those that would overlap the previous one. */
function apart(u, ticks, look) {
  let free = -Infinity;
  u.ctx.font = look.font(12);
  return ticks.map(([place, label]) => {
    const half = u.ctx.measureText(label).width / 2 + 3, x = u.valToPos(place, "x");
    if (x - half < free) return "";
    free = x + half;
    return label;
  });
}
