/** Collapsible full terms: who asks what, what becomes public, and the retention period. */

import { make } from "../dom.js";
import { BESIDES, CONTRACT, contractInWords, EXACTLY, LABEL } from "../words/contract.js";

/**
 * @param {import("../../device/documents/task.js").Task} task
 * @param {string} place the collector's origin and path, empty for the address of the page
 * @returns {HTMLElement}
 */
export function contractView(task, place) {
  const provider = task.origins.at(-1) ?? location.origin;
  const parts = contractInWords(task, new URL(provider).host).map(([name, text]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, text)),
  );
  const origin = provider === location.origin ? "" : provider;
  const base = place || origin;
  const href = `${base}${base === "" ? "" : "/"}v1/tasks/${task.address}/label`;
  const label = make("a", { href }, LABEL);
  return make(
    "details",
    { class: "contract", part: "contract" },
    make("summary", {}, CONTRACT),
    make("dl", { class: "terms" }, ...parts),
    make("p", {}, label, BESIDES),
    make("p", { class: "quiet" }, EXACTLY, make("span", { class: "address" }, `SHA-256 ${task.address}`)),
  );
}
