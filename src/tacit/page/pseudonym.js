/**
 * Names that a device goes by: one for the person in a task, one for each report.
 *
 * HMAC-SHA256 under the device's secret. Whoever lacks the secret cannot tell whether the names of
 * two tasks belong to one person, nor make a name for somebody else's slot.
 */

import { name } from "./hashing.js";

export const SECRET_BYTES = 32;

/**
 * Her name in the task of that address: 32 hexadecimal digits, on all her reports to it.
 * @param {CryptoKey} secret
 * @param {string} task
 * @returns {Promise<string>}
 */
export function person(secret, task) {
  return name(secret, `tacit-person-1\n${task}`);
}

/**
 * The id of the report on one place of the catalogue, or on all that are asked (null).
 *
 * It does not depend on what is reported: a slot that is drawn again meets its first report.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {number} epoch
 * @param {number | null} place
 * @returns {Promise<string>}
 */
export function reportId(secret, task, epoch, place) {
  return name(secret, `tacit-report-1\n${task}\n${epoch}\n${place ?? "all"}`);
}
