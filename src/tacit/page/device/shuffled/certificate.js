/**
 * Certificate of a collection of shuffled messages: its rounds, its conditions, and both epsilons.
 *
 * A device verifies it from its numbers alone, by the bound of `tacit.privacy.shuffled_messages`:
 * all profiles of M messages among B honest dummies are bounded by Poisson counts of mean B / nb, M
 * of which have one more under P and M under Q.
 */

import { compare, decimal } from "../documents/decimals.js";
import { divergence } from "./poisson_loss.js";

/** @typedef {import("../documents/decimals.js").Decimal} Decimal */
/**
 * One round. `buckets`: nb, number of different messages. `messages`: M, number of messages of a
 * device that may be about its user. `dummies`: D, number of its uniform messages.
 * @typedef {{ readonly buckets: number, readonly messages: number,
 *   readonly dummies: number }} ShuffledRound
 */
/**
 * (epsilon, delta) per user of all rounds together. `bundles`: least number of bundles in a batch,
 * one per person. `honest`: fraction of them from devices that follow the protocol. `replaced`:
 * epsilon in nats per user, where a profile is replaced by any other one. `empty`: the same, where
 * one of the two profiles has no items. `bundles` is an integer, the others are decimal strings.
 * @typedef {{ readonly rounds: readonly ShuffledRound[], readonly bundles: number,
 *   readonly honest: string, readonly delta: string, readonly replaced: string,
 *   readonly empty: string }} ShuffledCertificate
 */
/** @typedef {"replaced" | "empty"} Neighbour */

/** Most dummies per bucket that count: fewer are a valid bound, which takes less time. */
export const LARGEST_MEAN = 10_000_000;
/** Largest product of delta and the number of bundles. */
const MOST_DELTA = { units: 1n, places: 2 };
const [NONE, ONE] = [{ units: 0n, places: 0 }, { units: 1n, places: 0 }];
/** Whether messages are added and removed under P, for each order of the profiles. */
const CHANGES = {
  replaced: [[true, true]],
  empty: [
    [true, false],
    [false, true],
  ],
};

/**
 * Return why a certificate is malformed, as a clause; null if it is not.
 * @param {ShuffledCertificate} certificate
 * @returns {string | null}
 */
export function malformation({ rounds, bundles, ...decimals }) {
  if (rounds.length === 0) return "it has no rounds";
  if (!(bundles >= 1)) return "it must have at least one bundle";
  for (const { buckets, messages, dummies } of rounds) {
    if (!(messages >= 1 && dummies >= 0 && 2 * messages < buckets))
      return "a round must have at least one message, and more than twice as many buckets";
  }
  for (const [name, text] of Object.entries(decimals)) {
    const value = decimal(text);
    const isFraction = name === "honest" || name === "delta";
    if (value === undefined || compare(value, NONE) <= 0) return `its ${name} must be above 0`;
    if (isFraction && compare(value, ONE) > 0) return `its ${name} must be at most 1`;
  }
  return null;
}

/**
 * Return the number of honest devices in every batch: honest x bundles, rounded down, and at least
 * one, the user's own.
 * @param {Pick<ShuffledCertificate, "honest" | "bundles">} certificate
 * @returns {number}
 */
export function devices({ honest, bundles }) {
  const { units, places } = times(honest, bundles);
  return Math.max(Number(units / 10n ** BigInt(places)), 1);
}

/**
 * Return why the numbers do not prove the claim, as a sentence; null if they do.
 * @param {ShuffledCertificate} certificate
 * @returns {string | null}
 */
export function flaw(certificate) {
  const { bundles, delta, rounds } = certificate;
  if (compare(times(delta, bundles), MOST_DELTA) > 0)
    return `delta must be at most 0.01 / ${bundles} bundles, got ${delta}.`;
  const honest = devices(certificate);
  for (const neighbour of /** @type {const} */ (["replaced", "empty"])) {
    const epsilon = certificate[neighbour];
    const bound = shuffledDelta(rounds, honest, Number(epsilon), neighbour);
    if (bound > Number(delta)) {
      return (
        `Epsilon ${epsilon} (${neighbour}) holds at delta ${bound.toPrecision(2)}, above ${delta}; ` +
        "send more dummies or claim a larger epsilon."
      );
    }
  }
  return null;
}

/**
 * Return an upper bound on delta at `epsilon` nats per user, for all rounds together. `devices`:
 * honest devices in every batch, the user's included.
 *
 * It is 1 where there are too few dummies for any bound: a round without dummies is not private.
 * @param {readonly ShuffledRound[]} rounds
 * @param {number} devices
 * @param {number} epsilon
 * @param {Neighbour} neighbour
 * @returns {number}
 */
export function shuffledDelta(rounds, devices, epsilon, neighbour) {
  const bounds = CHANGES[neighbour].map(([added, removed]) => {
    let factor = 1;
    const counts = [];
    for (const { buckets, messages, dummies } of rounds) {
      const background = Math.min(devices * dummies, LARGEST_MEAN * buckets);
      const [gained, lost] = [messages * Number(added), messages * Number(removed)];
      const rest = background > 0 ? buckets - gained - lost - buckets / background : 0;
      if (rest <= 0) return 1;
      factor *= Math.sqrt(buckets / rest) * Math.exp(1 / (12 * background));
      counts.push({ mean: background / buckets, gained, lost });
    }
    return factor * divergence(counts, epsilon);
  });
  return Math.min(1, Math.max(...bounds));
}

/**
 * @param {string} text a plain decimal
 * @param {number} factor
 * @returns {Decimal}
 */
function times(text, factor) {
  const { units, places } = decimal(text) ?? NONE;
  return { units: units * BigInt(factor), places };
}
