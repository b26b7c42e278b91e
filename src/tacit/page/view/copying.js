/** Offer to copy the ratings of an earlier question, until the user agrees to the new one. */

import { questionOf } from "../device/sending/outbox.js";
import { loads } from "../device/documents/task.js";
import { find, say } from "./dom.js";
import { copiedInWords } from "./words/page.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {import("../device/store.js").Rows} Rows */

/**
 * Show the offer if the device has ratings of the question that its user agreed to before.
 * @param {Rows} rows
 * @param {boolean} agreed to the present question
 */
export function showOffer({ owner: [owner], ratings }, agreed) {
  const question = owner && !agreed ? questionOf(owner) : null;
  const isKnown = ratings.some(({ task }) => task === question);
  find("earlier", HTMLElement).hidden = !isKnown;
}

/**
 * Copy the ratings of the question that the user agreed to before, and show how many.
 *
 * Its task is requested only now, since the request shows that the device had it. Throws what `loads`
 * and `copyRatings` throw, and `RequestError` if the collector no longer serves that task.
 * @param {import("../device/client.js").Client} client
 * @param {Pick<import("../device/sending/collector.js").Collector, "task">} collector
 * @param {Task} task
 */
export async function copyEarlier(client, collector, task) {
  const { owner: [owner] } = await client.read();
  if (owner === undefined) return;
  const earlier = await loads(await collector.task(owner.task), owner.task);
  const n = await client.copyRatings(task, earlier);
  say("copied", copiedInWords(task, n));
}
