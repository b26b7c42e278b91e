/** Collapsible full terms: who asks what, what becomes public, and the retention period. */

import { make } from "./dom.js";
import { BESIDES, CONTRACT, contractInWords, EXACTLY, LABEL } from "./words/contract.js";

/**
 * @param {import("../device/documents/task.js").Task} task
 * @returns {HTMLElement}
 */
export function contractView(task) {
  const parts = contractInWords(task, location.host).map(([name, text]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, text)),
  );
  const label = make("a", { href: `v1/tasks/${task.address}/label` }, LABEL);
  return make(
    "details",
    { class: "contract" },
    make("summary", {}, CONTRACT),
    make("dl", { class: "terms" }, ...parts),
    make("p", {}, label, BESIDES),
    make("p", { class: "quiet" }, EXACTLY, make("span", { class: "address" }, `SHA-256 ${task.address}`)),
  );
}
