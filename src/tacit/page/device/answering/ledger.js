/** The ledger: what a person has spent in their life, in whole nano-epsilon, and what is left. */

import { decimal, nano, shortest } from "../documents/decimals.js";
import { BudgetError, RequestError } from "../errors.js";

/**
 * `spent` of a lifetime `limit`, both in nano-epsilon, summed over every draw of a person.
 * @typedef {{ readonly limit: bigint, readonly spent: bigint }} Ledger
 */

/**
 * An epsilon (nats, a plain decimal) in nano-epsilon, rounded up.
 * @param {string} epsilon
 * @returns {bigint}
 */
export function amount(epsilon) {
  const value = decimal(epsilon);
  if (value === undefined || value.units < 0n) {
    throw new RequestError(`Epsilon '${epsilon}' is no amount; give a decimal such as 0.5.`);
  }
  return nano(value);
}

/**
 * An amount in nano-epsilon as a decimal, in nats.
 * @param {bigint} value
 * @returns {string}
 */
export function nats(value) {
  return shortest({ units: value, places: 9 });
}

/**
 * What may still be spent; never below 0.
 * @param {Ledger} ledger
 * @returns {bigint}
 */
export function left({ limit, spent }) {
  return spent < limit ? limit - spent : 0n;
}

/**
 * @param {Ledger} ledger
 * @param {bigint} cost
 * @returns {boolean}
 */
export function affords({ limit, spent }, cost) {
  return spent + cost <= limit;
}

/**
 * The ledger after a debit; throws `BudgetError` with the amount left when it is too much.
 * @param {Ledger} ledger
 * @param {bigint} cost
 * @returns {Ledger}
 */
export function debit(ledger, cost) {
  if (cost < 0n) throw new RequestError(`A debit of ${cost} nano-epsilon is no debit.`);
  if (!affords(ledger, cost)) {
    throw new BudgetError(
      `This answer costs epsilon = ${nats(cost)} and ${nats(left(ledger))} of ` +
        `${nats(ledger.limit)} is left for your lifetime: it is not drawn.`,
    );
  }
  return { limit: ledger.limit, spent: ledger.spent + cost };
}
