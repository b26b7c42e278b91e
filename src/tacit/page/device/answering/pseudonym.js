/**
 * Pseudonyms of a device: one per task for the user, one per report.
 *
 * HMAC-SHA256 under the device's secret. Without the secret, pseudonyms alone do not reveal whether
 * two tasks have a user in common. The reports under them can reveal it. Without the secret, nobody
 * can compute the pseudonym of another user's slot either.
 */

import { address, hexadecimal, mac } from "../documents/hashing.js";

export const SECRET_BYTES = 32;
const NAME_DIGITS = 32;

/**
 * Inputs of the pseudonyms: a task's address and its provider. The provider is null for a
 * tacit-task-1, or for a tacit-task-2 that continues one.
 * @typedef {{ readonly named: string, readonly provider: string | null }} Named
 */

/**
 * Return the user's pseudonym in the task of that address: 32 hexadecimal digits, on all reports to
 * it.
 *
 * Under a provider it is the hash of the erasure key. The pseudonym is visible to all readers of
 * the reports, and does not allow them to erase the reports.
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
 * Return the key that a device presents to erase the reports under its pseudonym: 32 bytes, secret
 * until then. Pseudonyms made for a tacit-task-1 have none.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {string} provider
 */
export function erasureKey(secret, task, provider) {
  return mac(secret, `tacit-person-2\n${provider}\n${task}`);
}

/**
 * Return the id of the report on one catalogue index, or on all covered items (null).
 *
 * It does not depend on the reported values: a slot that is drawn again gets the id of its first
 * report.
 * @param {CryptoKey} secret
 * @param {string} task
 * @param {number} epoch
 * @param {number | null} index
 * @param {string | null} provider
 * @returns {Promise<string>}
 */
export async function reportId(secret, task, epoch, index, provider) {
  const head = provider === null ? "tacit-report-1" : `tacit-report-2\n${provider}`;
  const text = `${head}\n${task}\n${epoch}\n${index ?? "all"}`;
  return hexadecimal(await mac(secret, text)).slice(0, NAME_DIGITS);
}

/**
 * Return the key that selects the items of a block that the device is queried about: 32 hexadecimal
 * digits.
 *
 * `block` is the address of the document that added the items, so that those who choose them cannot
 * predict the key. It is sent with the block's report.
 * @param {CryptoKey} secret
 * @param {string} provider
 * @param {string} block
 * @returns {Promise<string>}
 */
export async function blockKey(secret, provider, block) {
  const text = `tacit-block-1\n${provider}\n${block}`;
  return hexadecimal(await mac(secret, text)).slice(0, NAME_DIGITS);
}

/**
 * Return the id of the report on a block in a generation.
 *
 * It does not depend on epoch, channel or content, so that a second answer is a conflict.
 * @param {CryptoKey} secret
 * @param {string} provider
 * @param {string} task
 * @param {string} block
 * @param {number} generation
 * @returns {Promise<string>}
 */
export async function blockReportId(secret, provider, task, block, generation) {
  const text = `tacit-block-report-1\n${provider}\n${task}\n${block}\n${generation}`;
  return hexadecimal(await mac(secret, text)).slice(0, NAME_DIGITS);
}
