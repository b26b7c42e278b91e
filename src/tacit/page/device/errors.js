/** What can go wrong: one sentence each, with the place, the value and the remedy. */

/** Any of them. */
export class TacitError extends Error {}

/** A document holds something it should not. */
export class DataError extends TacitError {}

/** The request itself cannot be met. */
export class RequestError extends TacitError {}

/** A channel does not prove the epsilon it claims, or is not the table it names. */
export class CertificateError extends TacitError {}

/** A person's lifetime limit of epsilon does not allow another answer. */
export class BudgetError extends TacitError {}

/**
 * The sentence of an error, whatever was thrown.
 * @param {unknown} error
 * @returns {string}
 */
export function sentence(error) {
  return error instanceof Error ? error.message : String(error);
}
