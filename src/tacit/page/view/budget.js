/** What the person has spent in their life, and what is left. */

import { make } from "./dom.js";
import { left, nano, nats } from "../device/answering/ledger.js";
import { hasOneLevel } from "../device/documents/scale.js";
import { choose } from "../device/documents/task.js";
import { vocabulary } from "./vocabulary.js";
import { count, together, unit } from "./words.js";

/**
 * @param {import("../device/documents/task.js").Task} task
 * @param {import("../device/store.js").Owner} owner
 * @param {bigint} spent
 * @returns {HTMLElement}
 */
export function budgetView(task, owner, spent) {
  const ledger = { limit: owner.limit, spent };
  const cost = choose(task, owner.maximum).epsilon;
  const meter = make("span", { class: "meter", "aria-hidden": "true" });
  meter.style.setProperty(
    "--share",
    String(Math.min(1, Number(spent) / Math.max(1, Number(owner.limit)))),
  );
  const more =
    nano(cost) === 0n
      ? ""
      : `, enough for ${count(Number(left(ledger) / nano(cost)), "new answer")}`;
  return make(
    "div",
    {},
    make(
      "p",
      { class: "amount" },
      make("strong", {}, nats(spent)),
      ` of ${nats(owner.limit)} spent`,
    ),
    meter,
    make(
      "p",
      { class: "quiet" },
      `Epsilon ${together(task)}, over your whole life${besides(task)}. ` +
        `${nats(left(ledger))} is left${more}. ` +
        `Each costs epsilon = ${cost} per ${unit(task)}, once: ` +
        `the same ${vocabulary(task).noun} is never answered for twice.`,
    ),
  );
}

/**
 * What the sum does not bound.
 * @param {import("../device/documents/task.js").Task} task
 */
function besides(task) {
  if (task.hidesPresence && hasOneLevel(task.scale))
    return ", as long as every question hides what you do, and you change no mark";
  return task.hidesPresence
    ? ", as long as every question hides what you rate, and you rate nothing anew"
    : "; which things you rated is public";
}
