"use strict";
/* Draws the parts of a panel other than uPlot's axes and lines. */
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

class PanelPen {
  constructor(panel, look) {
    this.panel = panel;
    this.look = look;
    this.byRow = panel.rows.length > 0;
  }

  /** Draw beneath the lines: bands, a rule and baselines. */
  behind(u) {
    this.#on(u, 0, () => {
      if (this.panel.band) this.#interval(this.panel.band);
      for (const line of this.panel.lines) {
        if (line.even) this.#deviation(line);
        if (line.stroke === "dotted" && line.points.length === 1) this.#alone(line);
      }
      if (this.panel.rule) this.#upright(this.panel.rule[0], "--ink", []);
      for (const floor of this.panel.baselines) this.#floor(floor.value);
    });
  }

  /** Draw above the lines: error bars, markers and names. */
  before(u) {
    this.#on(u, 6, () => {
      for (const line of this.panel.lines) {
        for (const point of line.even ? line.points.slice(0, 1) : line.points) {
          if (point[2] > 0 && !line.even) this.#bar(line, point);
          if (line.stroke !== "dotted") this.#marker(line, point);
        }
      }
    });
    this.#on(u, 40, () => this.#names(u));
  }

  /** Draw inside the plot and a margin around it, in CSS pixels. */
  #on(u, margin, draw) {
    const { ctx, bbox } = u, scale = devicePixelRatio, more = margin * scale;
    Object.assign(this, { ctx, bbox, scale });
    this.x = (value) => u.valToPos(value, "x", true);
    this.y = (value) => u.valToPos(value, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - more, bbox.top - more, bbox.width + 2 * more, bbox.height + 2 * more);
    ctx.clip();
    ctx.setLineDash([]);
    draw();
    ctx.restore();
  }

  #shade(left, top, width, height, colour, depth) {
    this.ctx.globalAlpha = depth;
    this.ctx.fillStyle = colour;
    this.ctx.fillRect(left, top, width, height);
    this.ctx.globalAlpha = 1;
  }

  #interval([from, to]) {
    const least = from === to ? 4 * this.scale : 0; // an interval of one value needs a width
    const start = this.x(from) - least, end = this.x(to) + least;
    const { top, height } = this.bbox;
    this.#shade(start, top, end - start, height, this.look.colour("--hue-2"), 0.16);
  }

  #deviation(line) {
    const [, mean, deviation] = line.points[0];
    const high = this.y(mean + deviation), low = this.y(mean - deviation);
    this.#shade(this.bbox.left, high, this.bbox.width, low - high, this.look.hue(line), 0.14);
  }

  #floor(value) {
    if (this.byRow) return this.#upright(value, "--soft", [5, 4]);
    return this.#across(value, this.look.colour("--soft"), [5, 4]);
  }

  /** Draw a single point without a marker as a horizontal line. */
  #alone(line) {
    this.#across(line.points[0][1], this.look.hue(line), DASHES.dotted);
  }

  #across(value, colour, dash) {
    const { left, width } = this.bbox, at = this.y(value);
    this.#stroke([left, at], [left + width, at], colour, dash);
  }

  #upright(value, ink, dash) {
    const { top, height } = this.bbox, at = this.x(value);
    this.#stroke([at, top], [at, top + height], this.look.colour(ink), dash);
  }

  #stroke(from, to, colour, dash) {
    this.ctx.beginPath();
    this.ctx.setLineDash(dash.map((length) => length * this.scale));
    this.ctx.lineWidth = 1.1 * this.scale;
    this.ctx.strokeStyle = colour;
    this.ctx.moveTo(...from);
    this.ctx.lineTo(...to);
    this.ctx.stroke();
    this.ctx.setLineDash([]);
  }

  #bar(line, [place, mean, deviation]) {
    const ends = [-deviation, deviation].map((off) => (this.byRow
      ? [this.x(place + off), this.y(mean)]
      : [this.x(place), this.y(mean + off)]));
    this.#stroke(...ends, this.look.hue(line), []);
  }

  /** Draw a marker: hollow for lines that are not solid, larger if selected. */
  #marker(line, [place, mean]) {
    const { ctx, panel, scale } = this, at = this.look.reading();
    const read = this.byRow ? at === mean : panel.ticks[at]?.[0] === place;
    const hollow = !this.byRow && line.stroke !== "solid";
    ctx.beginPath();
    SHAPES[line.shape](ctx, this.x(place), this.y(mean), (read ? 5.5 : 3.6) * scale);
    ctx.fillStyle = hollow ? this.look.colour("--paper") : this.look.hue(line);
    ctx.fill();
    if (!hollow) return;
    ctx.strokeStyle = this.look.hue(line);
    ctx.lineWidth = 1.4 * scale;
    ctx.stroke();
  }

  /** Draw names: of baselines at their right end, of the band and the rule at the top. */
  #names(u) {
    const { band, rule, ends, rows } = this.panel, { bbox, scale } = this;
    const seen = this.panel.baselines.filter(({ value }) => ends[0] <= value && value <= ends[1]);
    for (const { name, value } of this.byRow ? [] : seen) {
      this.#name(name, bbox.left + bbox.width, this.y(value) - 6 * scale, 1, "--soft");
    }
    const middle = band ? (this.x(band[0]) + this.x(band[1])) / 2 : 0;
    if (band) this.#name(band[2], middle, bbox.top - 24 * scale, 0.5);
    if (rule) this.#name(rule[1], this.x(rule[0]), bbox.top - 8 * scale, 0.5);
    if (u.width <= ROOMY) rows.forEach((name, row) => this.#row(name, this.y(row) - 7 * scale));
  }

  /** Draw a name with a halo, a share `part` of its width left of `x`, within the plot. */
  #name(name, x, bottom, part, ink = "--ink") {
    const { ctx, bbox, scale } = this;
    ctx.font = this.look.font(11 * scale);
    ctx.textAlign = "left";
    const wide = ctx.measureText(name).width, last = bbox.left + bbox.width - wide - 2 * scale;
    const left = Math.max(bbox.left + 2 * scale, Math.min(x - part * wide, last));
    ctx.lineJoin = "round";
    ctx.lineWidth = 3 * scale;
    ctx.strokeStyle = this.look.colour("--paper");
    ctx.strokeText(name, left, bottom);
    ctx.fillStyle = this.look.colour(ink);
    ctx.fillText(name, left, bottom);
  }

  /** Draw the name of a row above it, on an opaque background. */
  #row(name, bottom) {
    const { ctx, scale } = this, left = this.bbox.left - 14 * scale;
    ctx.font = this.look.font(12 * scale);
    ctx.textAlign = "left";
    const wide = ctx.measureText(name).width + 6 * scale;
    this.#shade(left, bottom - 10 * scale, wide, 13 * scale, this.look.colour("--paper"), 1);
    ctx.fillStyle = this.look.colour("--ink");
    ctx.fillText(name, left, bottom);
  }
}
