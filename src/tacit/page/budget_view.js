/** What she has spent in her life, and what is left. */

import { make } from "./dom.js";
import { amount, left, nats } from "./ledger.js";
import { choose } from "./task.js";
import { count, unit } from "./words.js";

/**
 * @param {import("./task.js").Task} task
 * @param {import("./store.js").Owner} owner
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
    amount(cost) === 0n
      ? ""
      : `, enough for ${count(Number(left(ledger) / amount(cost)), "new answer")}`;
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
      `Epsilon per user, over your whole life. ${nats(left(ledger))} is left${more}. ` +
        `Each costs epsilon = ${cost} per ${unit(task)}, once: ` +
        "the same rating is never answered for twice.",
    ),
  );
}
