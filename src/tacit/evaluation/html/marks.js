"use strict";
/* What a chart shows beyond uPlot's own lines and axes, and the options that put it there. */
const DASHES = { solid: [], dashed: [6, 4], dotdashed: [8, 3, 2, 3], dotted: [1.5, 3], floor: [5, 4] };
const SHAPES = [
  (path, x, y, r) => path.arc(x, y, r, 0, 2 * Math.PI),
  (path, x, y, r) => path.rect(x - r, y - r, 2 * r, 2 * r),
  (path, x, y, r) => corners(path, [[x, y - r], [x + r, y + r], [x - r, y + r]]),
  (path, x, y, r) => corners(path, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]),
  (path, x, y, r) => corners(path, [[x, y + r], [x + r, y - r], [x - r, y - r]]),
  (path, x, y, r) => {
    path.rect(x - r, y - r / 3, 2 * r, r / 1.5);
    path.rect(x - r / 3, y - r, r / 1.5, 2 * r);
  },
  (path, x, y, r) => [1, -1].forEach((side) => corners(path, [
    [x - r, y - side * 0.55 * r], [x - 0.55 * r, y - side * r],
    [x + r, y + side * 0.55 * r], [x + 0.55 * r, y + side * r],
  ])),
];

function corners(path, points) {
  points.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

/** Options of uPlot for a panel; `look` has its colours and what is read. */
function options(panel, look) {
  const byRow = panel.rows.length > 0;
  const places = panel.ticks.map(([place]) => place);
  const pad = byRow || panel.logarithmic ? 0 : 0.04 * (places.at(-1) - places[0]);
  const ends = byRow ? panel.ends : panel.logarithmic
    ? [places[0] / 1.18, places.at(-1) * 1.18] : [places[0] - pad, places.at(-1) + pad];
  const widest = (u, words) => {
    u.ctx.font = look.font(12 * devicePixelRatio);
    return Math.max(0, ...(words ?? []).map((word) => u.ctx.measureText(word).width)) / devicePixelRatio;
  };
  const axis = { stroke: () => look.colour("--soft"), font: look.font(12), ticks: { show: false } };
  const grid = { stroke: () => look.colour("--rule"), width: 1 };
  return {
    width: 300, height: 230, legend: { show: false },
    padding: [panel.band || panel.rule ? 40 : 10, 14, 0, byRow ? 14 : 0],
    cursor: { x: !byRow, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, distr: !byRow && panel.logarithmic ? 3 : 1, range: () => ends },
      y: { range: () => (byRow ? [-0.5, panel.rows.length - 0.4] : panel.ends) },
    },
    axes: [
      {
        ...axis, gap: 4, size: 26, label: panel.x, labelSize: 20, labelGap: 0, labelFont: look.font(12),
        grid: { ...grid, show: byRow }, filter: (u, splits) => splits,
        ...(byRow ? { values: numbers } : { splits: () => places, values: (u) => apart(u, panel) }),
      },
      {
        ...axis, gap: 8, grid: { ...grid, show: true },
        size: (u, words) => Math.ceil(byRow && !roomy(u) ? 0 : widest(u, words) + 12),
        ...(byRow
          ? { splits: () => panel.rows.map((_, k) => k), stroke: () => look.colour("--ink"),
              values: (u) => panel.rows.map((name) => (roomy(u) ? name : "")) }
          : { values: numbers, space: 36 }),
      },
    ],
    series: [{}, ...panel.lines.map((line) => ({
      stroke: () => look.hue(line), width: line.even ? 1.2 : 1.8, dash: DASHES[line.stroke],
      spanGaps: true, points: { show: false },
    }))],
    hooks: { drawAxes: [(u) => behind(u, panel, look)], draw: [(u) => before(u, panel, look)] },
  };

  /** Numbers of an axis with as many decimals as its steps have, so that no two look alike. */
  function numbers(u, splits, number, space, step) {
    return splits.map((value) => value.toFixed(look.decimals(step)));
  }
}

/** Whether names of rows have a place of their own beside them. */
function roomy(u) {
  return u.width > 560;
}

/** Labels of places, less those that would touch the one before. */
function apart(u, panel) {
  let free = -Infinity;
  u.ctx.font = `12px system-ui, sans-serif`;
  return panel.ticks.map(([place, words]) => {
    const half = u.ctx.measureText(words).width / 2 + 3, x = u.valToPos(place, "x");
    if (x - half < free) return "";
    free = x + half;
    return words;
  });
}

/** What lines are drawn upon: a band, a rule, floors, deviations of what is even. */
function behind(u, panel, look) {
  const { ctx, bbox } = u, scale = devicePixelRatio;
  const x = (value) => u.valToPos(value, "x", true), y = (value) => u.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (panel.band) {
    const [from, to] = panel.band;
    const start = from === to ? x(from) - 4 * scale : x(from), end = from === to ? x(to) + 4 * scale : x(to);
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = look.colour("--hue-2");
    ctx.fillRect(start, bbox.top, end - start, bbox.height);
    ctx.globalAlpha = 1;
  }
  if (panel.rule) {
    across([[x(panel.rule[0]), bbox.top], [x(panel.rule[0]), bbox.top + bbox.height]], "--ink", []);
  }
  for (const line of panel.lines.filter((one) => one.even && one.points.length)) {
    const [, mean, deviation] = line.points[0];
    ctx.globalAlpha = 0.14;
    ctx.fillStyle = look.hue(line);
    ctx.fillRect(bbox.left, y(mean + deviation), bbox.width, y(mean - deviation) - y(mean + deviation));
    ctx.globalAlpha = 1;
  }
  for (const floor of panel.floors) {
    const upright = panel.rows.length > 0, place = upright ? x(floor.value) : y(floor.value);
    const ends = upright
      ? [[place, bbox.top], [place, bbox.top + bbox.height]]
      : [[bbox.left, place], [bbox.left + bbox.width, place]];
    across(ends, "--soft", [5, 4]);
  }
  ctx.restore();

  function across([[x0, y0], [x1, y1]], ink, dash) {
    ctx.beginPath();
    ctx.setLineDash(dash.map((length) => length * scale));
    ctx.lineWidth = 1.1 * scale;
    ctx.strokeStyle = look.colour(ink);
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  }
}

/** A name in a halo of paper, moved inwards where it would be cut. */
function words(u, look, name, left, top, align, ink) {
  const { ctx, bbox } = u, scale = devicePixelRatio;
  ctx.font = look.font(11 * scale);
  const width = ctx.measureText(name).width, least = bbox.left + 2 * scale;
  const start = left - { left: 0, center: width / 2, right: width }[align];
  const inside = Math.max(least, Math.min(start, bbox.left + bbox.width - width - 2 * scale));
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4 * scale;
  ctx.strokeStyle = look.colour("--paper");
  ctx.strokeText(name, inside, top);
  ctx.fillStyle = look.colour(ink);
  ctx.fillText(name, inside, top);
}

/** What is drawn upon lines: bars of a deviation, markers, names of rows. */
function before(u, panel, look) {
  const { ctx, bbox } = u, scale = devicePixelRatio, byRow = panel.rows.length > 0;
  const x = (value) => u.valToPos(value, "x", true), y = (value) => u.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 6 * scale, bbox.top - 6 * scale, bbox.width + 12 * scale, bbox.height + 12 * scale);
  ctx.clip();
  ctx.setLineDash([]);
  for (const line of panel.lines) {
    const points = line.even ? line.points.slice(0, 1) : line.points;
    ctx.strokeStyle = ctx.fillStyle = look.hue(line);
    for (const [place, mean, deviation] of points) {
      const read = byRow ? look.reading() === mean : panel.ticks[look.reading()]?.[0] === place;
      ctx.lineWidth = scale;
      ctx.beginPath();
      if (deviation > 0 && byRow) bar(x(place - deviation), y(mean), x(place + deviation), y(mean));
      else if (deviation > 0 && !line.even) bar(x(place), y(mean - deviation), x(place), y(mean + deviation));
      ctx.stroke();
      if (line.stroke === "dotted") continue;
      ctx.beginPath();
      SHAPES[line.shape](ctx, x(place), y(mean), (read ? 5.5 : 3.6) * scale);
      const hollow = !byRow && line.stroke !== "solid";
      if (hollow) {
        ctx.save();
        ctx.fillStyle = look.colour("--paper");
        ctx.fill();
        ctx.restore();
        ctx.lineWidth = 1.4 * scale;
        ctx.stroke();
      } else ctx.fill();
    }
  }
  ctx.restore();
  named();
  ctx.save();
  ctx.font = look.font(12 * scale);
  ctx.textAlign = "left";
  if (!roomy(u)) panel.rows.forEach((name, row) => above(name, y(row) - 7 * scale));
  ctx.restore();

  /** The name of a row on paper of its own, so that no line runs through it. */
  function above(name, bottom) {
    const left = bbox.left - 14 * scale;
    ctx.fillStyle = look.colour("--paper");
    ctx.fillRect(left, bottom - 10 * scale, ctx.measureText(name).width + 6 * scale, 13 * scale);
    ctx.fillStyle = look.colour("--ink");
    ctx.fillText(name, left, bottom);
  }

  /** Floors by their names, and above all lines those of the band and the rule. */
  function named() {
    const right = bbox.left + bbox.width;
    const floors = byRow ? [] : panel.floors.filter((one) => inRange(one.value));
    for (const one of floors) words(u, look, one.name, right, y(one.value) - 4 * scale, "right", "--soft");
    if (panel.band) {
      const [from, to, name] = panel.band;
      words(u, look, name, (x(from) + x(to)) / 2, bbox.top - 24 * scale, "center", "--ink");
    }
    if (panel.rule) {
      const [place, name] = panel.rule;
      words(u, look, name, x(place), bbox.top - 8 * scale, "center", "--ink");
    }
  }

  function inRange(value) {
    return panel.ends[0] <= value && value <= panel.ends[1];
  }

  function bar(x0, y0, x1, y1) {
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
  }
}
