/**
 * Names that a device goes by: one for the person in a task, one for each report.
 *
 * HMAC-SHA256 under the device's secret. By names alone nobody without the secret can tell whether
 * two tasks have a person in common; what is reported under them can tell. Nor can anybody make a
 * name for somebody else's slot.
 */

import { address, hexadecimal, mac } from "../documents/hashing.js";

export const SECRET_BYTES = 32;
const NAME_DIGITS = 32;

/**
 * What names are made for: a task's address, and its provider; null for a tacit-task-1, or for a
 * tacit-task-2 that goes on with one.
 * @typedef {{ readonly named: string, readonly provider: string | null }} Named
 */

/**
 * The person's name in the task of that address: 32 hexadecimal digits, on all reports to it.
 *
 * Under a provider it is the hash of the erasure key, so that whoever knows the name, and that is
 * everybody with the reports, cannot have them erased.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {string | null} provider
 * @returns {Promise<string>}
 */
export async function person(secret, task, provider) {
  const whole =
    provider === null
      ? hexadecimal(await mac(secret, `tacit-person-1\n${task}`))
      : await address(await erasureKey(secret, task, provider));
  return whole.slice(0, NAME_DIGITS);
}

/**
 * What a device shows to have the reports under its name erased: 32 bytes, a secret till then.
 * Names made for a tacit-task-1 have none.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {string} provider
 */
export function erasureKey(secret, task, provider) {
  return mac(secret, `tacit-person-2\n${provider}\n${task}`);
}

/**
 * The id of the report on one place of the catalogue, or on all that are asked (null).
 *
 * It does not depend on what is reported: a slot that is drawn again meets its first report.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {number} epoch
 * @param {number | null} place
 * @param {string | null} provider
 * @returns {Promise<string>}
 */
export async function reportId(secret, task, epoch, place, provider) {
  const head = provider === null ? "tacit-report-1" : `tacit-report-2\n${provider}`;
  const text = `${head}\n${task}\n${epoch}\n${place ?? "all"}`;
  return hexadecimal(await mac(secret, text)).slice(0, NAME_DIGITS);
}
