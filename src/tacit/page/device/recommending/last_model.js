/** The last published model of a question, verified against its address, and used without requests. */

import { CertificateError, DataError } from "../errors.js";
import { address } from "../documents/hashing.js";
import { fromBytes } from "../documents/item_model.js";
import * as listModel from "../documents/list_model.js";

/** @typedef {import("../documents/item_model.js").ItemModel | import("../documents/list_model.js").ListModel} Model */
/** @typedef {Pick<import("../sending/collector.js").Collector, "newestModel" | "model">} Models */
/** @typedef {import("../documents/task.js").Task} Task */
/**
 * Whose models these are: the address of a task, and its question, whose last model is used until a
 * newer one is fetched.
 * @typedef {Pick<Task, "address" | "question"> & Partial<Pick<Task, "scale">>} Source
 */

export class LastModel {
  #collector;
  #question = "";
  /** @type {string | null} */
  #address = null;
  /** @type {Model | null} */
  #model = null;

  /** @param {Models} collector */
  constructor(collector) {
    this.#collector = collector;
  }

  /**
   * Return the last model of a question, null if none was published. The first one is fetched.
   * @param {Source} source
   * @returns {Promise<Model | null>}
   */
  async get(source) {
    return source.question === this.#question ? this.#model : this.fetch(source);
  }

  /**
   * Fetch the newest model, unless it is the last one, which stays if none is published. Throws
   * `CertificateError` if the bytes do not match the model's address, and `DataError` if the model is
   * malformed, or has another rating scale.
   * @param {Source} source
   * @returns {Promise<Model | null>}
   */
  async fetch({ address: task, question, scale }) {
    const newest = await this.#collector.newestModel(task);
    const isLast = newest === null ? question === this.#question : newest === this.#address;
    const model = isLast ? this.#model : newest === null ? null : await this.#verified(newest);
    if (model !== null && scale !== undefined && "scale" in model && model.scale.text !== scale.text) {
      throw new DataError(
        `The item model has the scale ${model.scale.text}, but the task has ${scale.text}.`,
      );
    }
    if (!isLast) this.#address = newest;
    [this.#question, this.#model] = [question, model];
    return model;
  }

  /** @param {string} newest */
  async #verified(newest) {
    const bytes = await this.#collector.model(newest);
    if ((await address(bytes)) !== newest)
      throw new CertificateError("The model was changed in transit and cannot be used.");
    return listModel.isListModel(bytes) ? listModel.fromBytes(bytes) : fromBytes(bytes);
  }
}
