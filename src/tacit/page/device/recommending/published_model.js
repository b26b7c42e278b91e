/** The newest published model, verified against its address. */

import { mustHave } from "../arguments.js";
import { LastModel } from "./last_model.js";

/**
 * Fetch the newest model, or null if none is published yet. Throws `CertificateError` if the bytes do
 * not match the model's address, and `DataError` if the model is malformed, or has another rating
 * scale.
 * @param {import("./last_model.js").Models} collector
 * @param {import("../documents/task.js").Task} task
 * @returns {Promise<import("./last_model.js").Model | null>}
 */
export async function fetchModel(collector, task) {
  mustHave(["newestModel"], collector, "a collector", "pass new Collector()");
  mustHave(["address", "scale"], task, "a task", "pass what fetchTask returned");
  return new LastModel(collector).fetch(task);
}
