"use strict";
/* Interactive charts of panels: in the colours of the page, as wide as their boxes, with pointer
   and keyboard readout. Each draws the JSON that follows its picture. Without scripts the picture
   stays. */
class PanelChart {
  /** Index of the selected point or row, or null. */
  #at = null;

  constructor(script) {
    this.panel = JSON.parse(script.textContent);
    this.byRow = this.panel.rows.length > 0;
    this.places = this.panel.ticks.map(([place]) => place);
    this.still = script.parentElement.querySelector(".still");
    this.box = made("div", { className: "chart", tabIndex: 0, role: "application" });
    this.readout = made("div", { className: "readout", hidden: true, ariaHidden: "true" });
    this.announcer = made("p", { className: "announcer", ariaLive: "polite" });
    this.#place();
    this.chart = new uPlot(options(this.panel, this.#look()), this.#data(), this.box);
    this.chart.root.ariaHidden = "true";
    this.box.append(this.readout);
    this.#listen();
  }

  #place() {
    const description = this.still.firstElementChild.getAttribute("aria-label");
    this.box.ariaRoleDescription = "chart";
    this.box.ariaLabel = `${description} Arrow keys step through the points.`;
    const { title } = this.panel;
    const named = title ? [made("p", { className: "name", textContent: title })] : [];
    this.still.before(...named, this.box, this.announcer);
    this.still.hidden = true;
  }

  #look() {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
    return {
      colour,
      hue: (line) => colour(`--hue-${line.hue}`),
      font: (size) => `${size}px system-ui, sans-serif`,
      reading: () => this.#at,
    };
  }

  /** Each line's figure at every tick. Empty for rows, whose markers PanelPen draws. */
  #data() {
    if (this.byRow) return [this.panel.ends, ...this.panel.lines.map(() => [null, null])];
    const lines = this.panel.lines.map((line) => new Map(line.points));
    return [this.places, ...lines.map((line) => this.places.map((x) => line.get(x) ?? null))];
  }

  #listen() {
    this.chart.hooks.setCursor = [() => this.#point()];
    this.box.addEventListener("keydown", (event) => this.#press(event));
    this.box.addEventListener("blur", () => this.#read(null));
    new ResizeObserver(() => this.#fit()).observe(this.box);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.chart.redraw(false));
    this.#fit();
  }

  #fit() {
    const { panel } = this, width = this.box.clientWidth;
    const rows = 60 + (width > ROOMY ? 26 : 36) * panel.rows.length;
    const above = panel.band || panel.rule ? 40 : 0;
    const height = this.byRow ? rows : above + Math.min(380, Math.max(230, 0.62 * width));
    this.chart.setSize({ width, height: Math.round(height) });
  }

  /** Select the point nearest to the pointer, or none if the pointer left. */
  #point() {
    const { left, top } = this.chart.cursor;
    const inside = left !== undefined && left >= 0;
    if (!inside && document.activeElement === this.box) return;
    const wanted = this.byRow
      ? this.panel.rows.map((_, row) => Math.abs(this.chart.valToPos(row, "y") - top))
      : this.places.map((place) => Math.abs(this.chart.valToPos(place, "x") - left));
    this.#read(inside ? wanted.indexOf(Math.min(...wanted)) : null);
  }

  #press(event) {
    const { byRow } = this, most = (byRow ? this.panel.rows : this.places).length - 1;
    const [up, down] = byRow ? ["ArrowUp", "ArrowDown"] : ["ArrowRight", "ArrowLeft"];
    const from = (step) => Math.max(0, Math.min(most, this.#at + step));
    const first = byRow ? most : 0, none = this.#at === null;
    const targets = {
      [up]: none ? first : from(1), [down]: none ? first : from(-1),
      Home: 0, End: most, Escape: null,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.#read(targets[event.key]);
    const values = this.#figures().map(([, name, figure]) => `${name} ${figure}`).join(", ");
    this.announcer.textContent = this.#at === null ? "" : `${this.#title()}: ${values}`;
  }

  /** Colour, name and figure of each line at the selected point. */
  #figures() {
    if (this.#at === null) return [];
    const here = ([x, y]) => (this.byRow ? y === this.#at : x === this.places[this.#at]);
    const lines = this.panel.lines.flatMap((line) => line.points.filter(here)
      .map((point) => [`var(--hue-${line.hue})`, line.name, point[3]]));
    const baselines = this.panel.baselines.map((each) => ["var(--soft)", each.name, each.text]);
    return [...lines, ...baselines];
  }

  #title() {
    return this.byRow ? this.panel.x : `${this.panel.x} ${this.panel.ticks[this.#at][1]}`;
  }

  #read(number) {
    this.#at = number;
    this.readout.hidden = number === null;
    this.chart.redraw(false);
    if (number === null) return;
    const list = made("ul");
    for (const [ink, name, value] of this.#figures()) {
      const entry = list.appendChild(made("li"));
      entry.style.setProperty("--ink-of-line", ink);
      entry.append(name, made("b", { textContent: value }));
    }
    this.readout.replaceChildren(made("strong", { textContent: this.#title() }), list);
    this.#beside(number);
  }

  /** Position the readout next to the selected point, inside the box. */
  #beside(number) {
    const { box, chart, readout } = this, { offsetLeft, offsetTop, clientWidth } = chart.over;
    const x = this.byRow ? clientWidth / 2 : chart.valToPos(this.places[number], "x");
    const left = offsetLeft + (x > clientWidth / 2 ? x - readout.offsetWidth - 12 : x + 12);
    const most = box.clientWidth - readout.offsetWidth;
    readout.style.left = `${Math.max(0, Math.min(most, left))}px`;
    const top = this.byRow ? offsetTop + chart.valToPos(number, "y") + 14 : 4;
    readout.style.top = `${Math.min(top, chart.height - readout.offsetHeight)}px`;
  }
}

/** Create an element with these properties. */
function made(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}

for (const script of document.querySelectorAll(".panel > script")) new PanelChart(script);
