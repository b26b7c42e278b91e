/** The newest published model, verified against its address. */

import { mustHave } from "../arguments.js";
import { CertificateError, DataError } from "../errors.js";
import { address } from "../documents/hashing.js";
import { fromBytes } from "../documents/item_model.js";
import * as listModel from "../documents/list_model.js";

/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */

/**
 * Fetch the newest model, or null if none is published yet. Throws what `newestModel` throws, and
 * `DataError` for another rating scale.
 * @param {Pick<import("../sending/collector.js").Collector, "newestModel" | "model">} collector
 * @param {import("../documents/task.js").Task} task
 * @returns {Promise<ItemModel | ListModel | null>}
 */
export async function fetchModel(collector, task) {
  mustHave(["newestModel"], collector, "a collector", "pass new Collector()");
  mustHave(["address", "scale"], task, "a task", "pass what fetchTask returned");
  const model = await newestModel(collector, task.address);
  if (model !== null && "scale" in model && model.scale.text !== task.scale.text) {
    throw new DataError(
      `The item model has the scale ${model.scale.text}, but the task has ${task.scale.text}.`,
    );
  }
  return model;
}

/**
 * Fetch the newest model of the task at an address, or null if none is published yet. Throws
 * `CertificateError` if the bytes do not match the model's address, and `DataError` if the model is
 * malformed.
 * @param {Pick<import("../sending/collector.js").Collector, "newestModel" | "model">} collector
 * @param {string} task
 * @returns {Promise<ItemModel | ListModel | null>}
 */
export async function newestModel(collector, task) {
  const newest = await collector.newestModel(task);
  if (newest === null) return null;
  const bytes = await collector.model(newest);
  if ((await address(bytes)) !== newest)
    throw new CertificateError("The model was changed in transit and cannot be used.");
  return listModel.isListModel(bytes) ? listModel.fromBytes(bytes) : fromBytes(bytes);
}
