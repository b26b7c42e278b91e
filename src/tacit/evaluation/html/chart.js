"use strict";
/* Panels of a report as charts: in the page's colours, as wide as their boxes, read by a pointer or
   by keys. Each draws the JSON beside it and hides the picture, which stays where scripts are off. */
for (const script of document.querySelectorAll(".panel > script")) {
  const panel = JSON.parse(script.textContent);
  const still = script.parentElement.querySelector(".still");
  const box = document.createElement("div");
  const readout = document.createElement("div");
  const heard = document.createElement("p");
  const places = panel.ticks.map(([place]) => place);
  const byRow = panel.rows.length > 0;
  let at = null; // the place or the row that is read, by its number

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const hue = (line) => colour(`--hue-${line.hue}`);
  const font = (size) => `${size}px system-ui, sans-serif`;
  const decimals = (step) => (String(step).split(".")[1] ?? "").length;

  /** The figures at one place or of one row: colour, name, figure. */
  function figures(number) {
    const here = ([x, y]) => (byRow ? y === number : x === places[number]);
    const lines = panel.lines.flatMap((line) =>
      line.points.filter(here).map((point) => [`var(--hue-${line.hue})`, line.name, point[3]]));
    const floors = panel.floors.map((floor) => ["var(--soft)", floor.name, floor.said]);
    return [...lines, ...floors];
  }

  /** Shows what is at a place, beside it, or nothing. */
  function read(number, chart) {
    at = number;
    readout.hidden = number === null;
    if (number === null) return;
    const title = document.createElement("strong");
    title.textContent = byRow ? panel.x : `${panel.x} ${panel.ticks[number][1]}`;
    const list = document.createElement("ul");
    for (const [ink, name, said] of figures(number)) {
      const entry = list.appendChild(document.createElement("li"));
      entry.style.setProperty("--ink-of-line", ink);
      entry.append(name, Object.assign(document.createElement("b"), { textContent: said }));
    }
    readout.replaceChildren(title, list);
    const { left, width } = chart.over.getBoundingClientRect();
    const side = byRow ? chart.over.clientWidth / 2 : chart.valToPos(places[number], "x");
    const start = left - box.getBoundingClientRect().left + side;
    const room = box.clientWidth - readout.offsetWidth;
    const wanted = side > width / 2 ? start - readout.offsetWidth - 12 : start + 12;
    readout.style.left = `${Math.max(0, Math.min(room, wanted))}px`;
    const height = byRow ? chart.valToPos(number, "y") + 16 : 4;
    readout.style.top = `${Math.min(height, chart.height - readout.offsetHeight)}px`;
  }

  function press(event, chart) {
    const most = (byRow ? panel.rows : places).length - 1;
    const up = byRow ? "ArrowUp" : "ArrowRight", down = byRow ? "ArrowDown" : "ArrowLeft";
    const first = byRow ? most : 0;
    const asked = {
      [up]: at === null ? first : Math.min(most, at + 1),
      [down]: at === null ? first : Math.max(0, at - 1),
      Home: 0, End: most, Escape: null,
    };
    if (!(event.key in asked)) return;
    event.preventDefault();
    read(asked[event.key], chart);
    chart.redraw(false);
    const said = at === null ? [] : figures(at).map(([, name, figure]) => `${name} ${figure}`);
    const where = at === null || byRow ? "" : `${panel.x} ${panel.ticks[at][1]}: `;
    heard.textContent = where + said.join(", ");
  }

  function point(chart) {
    const { left, top } = chart.cursor;
    if (left < 0 || left === undefined) return document.activeElement === box ? null : read(null);
    const row = Math.round(chart.posToVal(top, "y"));
    const distance = (place) => Math.abs(chart.valToPos(place, "x") - left);
    const nearest = places.map(distance).reduce((best, d, k, all) => (d < all[best] ? k : best), 0);
    read(byRow ? Math.max(0, Math.min(panel.rows.length - 1, row)) : nearest, chart);
    return chart.redraw(false);
  }

  const chart = new uPlot(
    options(panel, { colour, hue, font, decimals, reading: () => at }),
    [byRow ? panel.ends : places, ...panel.lines.map(values)],
    box,
  );

  /** A line's figure at every place; none of a row, whose marker is drawn by itself. */
  function values(line) {
    if (byRow) return [null, null];
    const known = new Map(line.points.map(([x, mean]) => [x, mean]));
    return places.map((place) => known.get(place) ?? null);
  }

  still.hidden = true;
  box.className = "chart";
  box.tabIndex = 0;
  box.setAttribute("role", "application");
  box.setAttribute("aria-roledescription", "chart");
  box.setAttribute("aria-label", `${still.firstElementChild.getAttribute("aria-label")} ` +
    "Arrow keys read it place by place.");
  chart.root.setAttribute("aria-hidden", "true");
  readout.className = "readout";
  readout.hidden = true;
  readout.setAttribute("aria-hidden", "true");
  heard.className = "heard";
  heard.setAttribute("aria-live", "polite");
  box.append(readout);
  still.before(...(panel.title ? [named(panel.title)] : []), box, heard);

  function named(title) {
    return Object.assign(document.createElement("p"), { className: "name", textContent: title });
  }

  function fit() {
    const width = box.clientWidth;
    const row = width > 560 ? 26 : 36, named = panel.band || panel.rule ? 40 : 0;
    const height = byRow
      ? 60 + row * panel.rows.length
      : named + Math.min(380, Math.max(230, 0.62 * width));
    chart.setSize({ width, height: Math.round(height) });
  }

  chart.hooks.setCursor = [point];
  box.addEventListener("keydown", (event) => press(event, chart));
  box.addEventListener("blur", () => { read(null); chart.redraw(false); });
  new ResizeObserver(fit).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw(false));
  fit();
}
