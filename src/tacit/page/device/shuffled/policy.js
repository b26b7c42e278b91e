/** Policy of a user on shuffled tasks, which no task can change. */

import { mustBe } from "../arguments.js";
import { compare, decimal } from "../documents/decimals.js";
import { CertificateError, RequestError } from "../errors.js";

/** @typedef {import("../documents/decimals.js").Decimal} Decimal */
/** @typedef {import("./task.js").ShuffledTask} ShuffledTask */
/**
 * What a user requires of a shuffled task. `mostEpsilon`: greatest epsilon per user, for a profile
 * replaced by any other one, in nats. `honest`: greatest fraction of bundles that may be assumed to
 * come from devices that follow the protocol. `bundles`: least number of bundles in a batch. Epsilon
 * and fraction are decimal strings. `signed`: whether tasks must require signed tokens. The provider
 * signs none for a task that it did not write, so that devices do not answer a task that a shuffler has
 * written in its name.
 * @typedef {{ readonly mostEpsilon: string, readonly honest?: string, readonly bundles?: number,
 *   readonly signed?: boolean }} ShuffledPolicy
 */
/**
 * @typedef {{ readonly [name in "epsilon" | "honest" | "bundles"]: Decimal } & {
 *   readonly signed: boolean }} Limits
 */

/**
 * Return the limits of a policy. Throws `RequestError` for an invalid one.
 * @param {ShuffledPolicy} policy
 * @returns {Limits}
 */
export function limitsOf({ mostEpsilon, honest = "0.8", bundles = 10_000, signed = false }) {
  const [epsilon, fraction] = [decimal(mostEpsilon), decimal(honest)];
  if (epsilon !== undefined && fraction !== undefined && Number.isSafeInteger(bundles)) {
    mustBe("boolean", signed, "true or false as signed", "leave it out");
    return { epsilon, honest: fraction, bundles: { units: BigInt(bundles), places: 0 }, signed };
  }
  throw new RequestError(
    "policy must have mostEpsilon and honest as plain decimals such as 0.8, and an integer bundles.",
  );
}

/**
 * Throw `CertificateError` for a task that the policy does not allow.
 * @param {Limits} policy
 * @param {ShuffledTask} task
 */
export function refuseBeyond({ epsilon, honest, bundles, signed }, { certificate: claim, signer }) {
  if (signed && signer === null) {
    throw new CertificateError(
      "The shuffled task requires no signed tokens, but the policy does, so the device sends nothing.",
    );
  }
  for (const { name, value, limit, sign } of [
    { name: "epsilon", value: claim.replaced, limit: epsilon, sign: 1 },
    { name: "honest", value: claim.honest, limit: honest, sign: 1 },
    { name: "bundles", value: String(claim.bundles), limit: bundles, sign: -1 },
  ]) {
    const read = decimal(value);
    if (read === undefined || sign * compare(read, limit) > 0) {
      throw new CertificateError(
        `The shuffled task requires ${name} = ${value}, which the policy does not allow, so it is ` +
          "refused.",
      );
    }
  }
}
