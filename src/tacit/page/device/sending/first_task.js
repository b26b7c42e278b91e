/** The provider's current task, verified against its address. */

import { mustHave } from "../arguments.js";
import { loads } from "../documents/task.js";

/**
 * Fetch and verify the task to answer first. Throws what `loads` throws.
 * @param {Pick<import("./collector.js").Collector, "firstTask" | "task">} collector
 * @returns {Promise<import("../documents/task.js").Task>}
 */
export async function fetchTask(collector) {
  mustHave(["firstTask"], collector, "a collector", "pass new Collector()");
  const address = await collector.firstTask();
  return loads(await collector.task(address), address);
}
