/** Error types. Each message is one sentence with the location, the value and the remedy. */

/** Base class. */
export class TacitError extends Error {}

/** A document is malformed. */
export class DataError extends TacitError {}

/** A request is invalid. */
export class RequestError extends TacitError {}

/** The provider moved from `origin` to `successor`, and signed this. The user has to agree. */
export class MovedError extends RequestError {
  /** @param {string} origin @param {string} successor */
  constructor(origin, successor) {
    super(
      `The provider moved from ${origin} to ${successor}, and signed this. Nothing is sent until ` +
        `the user agrees to the move. Then open the device with ${successor}.`,
    );
    this.origin = origin;
    this.successor = successor;
  }
}

/** A channel does not prove the epsilon that it claims, or its id is that of another table. */
export class CertificateError extends TacitError {}

/** The user's lifetime limit of epsilon does not allow another answer. */
export class BudgetError extends TacitError {}

/**
 * Return the message of an error of any type.
 * @param {unknown} error
 * @returns {string}
 */
export function sentence(error) {
  return error instanceof Error ? error.message : String(error);
}
