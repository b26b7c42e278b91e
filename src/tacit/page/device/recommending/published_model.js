/** The newest item model that the provider publishes, checked against its address. */

import { DataError } from "../errors.js";
import { address } from "../documents/hashing.js";
import { readModel } from "../documents/item_model.js";

/**
 * Null where there is none yet; throws `DataError` for bytes that are not the ones of the address,
 * and for a model of another scale.
 * @param {import("../sending/collector.js").Collector} collector
 * @param {import("../documents/task.js").Task} task
 * @returns {Promise<import("../documents/item_model.js").ItemModel | null>}
 */
export async function newestModel(collector, task) {
  const newest = await collector.newestModel(task.address);
  if (newest === null) return null;
  const bytes = await collector.model(newest);
  if ((await address(bytes)) !== newest) {
    throw new DataError("The item model was changed on the way; nothing is recommended.");
  }
  const model = readModel(bytes);
  if (model.scale.text !== task.scale.text) {
    throw new DataError(
      `The item model is for the scale ${model.scale.text}; nothing is recommended.`,
    );
  }
  return model;
}
