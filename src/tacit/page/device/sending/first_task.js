/** The task that the provider wants answered first, checked against its address. */

import { loads } from "../documents/task.js";

/**
 * Throws what `loads` does, before anything is answered.
 * @param {Pick<import("./collector.js").Collector, "firstTask" | "task">} collector
 * @returns {Promise<import("../documents/task.js").Task>}
 */
export async function fetchTask(collector) {
  const address = await collector.firstTask();
  return loads(await collector.task(address), address);
}
