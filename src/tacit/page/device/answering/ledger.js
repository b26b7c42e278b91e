/** The ledger: a user's lifetime spending and remaining budget, in integer nano-epsilon. */

import { mustBe } from "../arguments.js";
import { decimal, shortest } from "../documents/decimals.js";
import { BudgetError, RequestError } from "../errors.js";

const NANO = 1_000_000_000n;

/**
 * `spent` of a lifetime `limit`, both in nano-epsilon, summed over all of a user's draws.
 * @typedef {{ readonly limit: bigint, readonly spent: bigint }} Ledger
 */

/**
 * Convert an epsilon (nats, a plain decimal) to nano-epsilon, rounded up.
 * @param {string} epsilon
 * @returns {bigint}
 */
export function nano(epsilon) {
  const value = decimal(epsilon);
  if (value === undefined || value.units < 0n) {
    throw new RequestError(`Epsilon must be a decimal of at least 0 such as 0.5, got ${epsilon}.`);
  }
  const whole = 10n ** BigInt(value.places);
  return (value.units * NANO + whole - 1n) / whole;
}

/**
 * Convert nano-epsilon to nats, as a decimal.
 * @param {bigint} amount
 * @returns {string}
 */
export function nats(amount) {
  mustBe("bigint", amount, "an amount of nano-epsilon", "write it as a bigint, as in 1n");
  return shortest({ units: amount, places: 9 });
}

/**
 * Return the remaining budget. Never below 0.
 * @param {Ledger} ledger
 * @returns {bigint}
 */
export function left({ limit, spent }) {
  return spent < limit ? limit - spent : 0n;
}

/**
 * Return whether a debit of `amount` stays within the limit.
 * @param {Ledger} ledger
 * @param {bigint} amount
 * @returns {boolean}
 */
export function affords({ limit, spent }, amount) {
  return spent + amount <= limit;
}

/**
 * Return the ledger after a debit. Throws `BudgetError` with the remaining amount if the debit
 * exceeds it, and `RequestError` for a negative amount.
 * @param {Ledger} ledger
 * @param {bigint} amount
 * @returns {Ledger}
 */
export function debit(ledger, amount) {
  if (amount < 0n) {
    throw new RequestError(`A debit must be at least 0 nano-epsilon, got ${amount}.`);
  }
  if (!affords(ledger, amount)) {
    throw new BudgetError(
      `This report costs epsilon = ${nats(amount)}, but ${nats(left(ledger))} of your lifetime ` +
        `budget of ${nats(ledger.limit)} is left, so no report is drawn.`,
    );
  }
  return { limit: ledger.limit, spent: ledger.spent + amount };
}
