"use strict";
/* Sortable tables: clicks on a heading cycle through ascending, descending and original order.
   Missing figures come last, and lines stay in their group. */
for (const table of document.querySelectorAll("table.all")) {
  const headings = [...table.tHead.rows[0].cells];
  const groups = [...table.tBodies].map((body) => [body, [...body.rows]]);
  if (groups.every(([, rows]) => rows.filter(isLine).length < 2)) continue;

  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => press(heading, column));
    heading.append(button);
  });

  function press(heading, column) {
    const next = { ascending: "descending", descending: null }[heading.ariaSort];
    const wanted = next === undefined ? "ascending" : next;
    for (const other of headings) other.removeAttribute("aria-sort");
    if (wanted) heading.setAttribute("aria-sort", wanted);
    for (const [body, rows] of groups) {
      const lines = rows.filter(isLine);
      if (wanted) lines.sort((one, other) => compare(one, other, column, wanted));
      body.append(...rows.filter((row) => !isLine(row)), ...lines);
    }
  }

  function isLine(row) {
    return row.cells.length === headings.length;
  }
}

function compare(one, other, column, wanted) {
  const [left, right] = [one, other].map((row) => row.cells[column].textContent.trim());
  const [low, high] = [left, right].map((text) => parseFloat(text.replaceAll(",", "")));
  const missing = [left, right].map((text) => text === "–" || text === "");
  if (missing[0] || missing[1]) return missing[0] - missing[1];
  const figures = one.cells[column].classList.contains("n");
  const order = figures ? low - high : left.localeCompare(right, "en", { numeric: true });
  return wanted === "ascending" ? order : -order;
}
