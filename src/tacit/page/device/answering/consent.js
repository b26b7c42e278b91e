/** The consent of the device's owner: the task that they agreed to, its extensions and moves. */

import { mustBe, options } from "../arguments.js";
import { CertificateError, RequestError } from "../errors.js";
import { refuseMoved } from "../sending/moves.js";
import { questionOf } from "../sending/outbox.js";
import { nano } from "./ledger.js";
import { SECRET_BYTES } from "./pseudonym.js";

/** @typedef {import("../documents/task.js").Task} Task */
/** @typedef {import("../store.js").Change} Change */
/** @typedef {import("../store.js").Owner} Owner */
/** @typedef {import("../store.js").Rows} Rows */
/** @typedef {{ readonly mostEpsilon: string, readonly lifetime: string }} Terms in nats, as decimals */

const TERMS = ["mostEpsilon", "lifetime"];
const AMOUNT = /^[0-9]{1,9}(\.[0-9]{1,18})?$/;

/**
 * Throw `RequestError` for terms that are not two decimals.
 * @param {Terms} terms
 */
export function checkTerms(terms) {
  options(TERMS, terms, "the user's terms", 'write { mostEpsilon: "1", lifetime: "50" }');
  for (const epsilon of [terms.mostEpsilon, terms.lifetime]) {
    mustBe("string", epsilon, "an epsilon", "write it as a string, as in '0.5'");
    if (!AMOUNT.test(epsilon))
      throw new RequestError(`Epsilon '${epsilon}' is not a plain decimal such as 0.5.`);
  }
}

/**
 * Return the change by which a user accepts the terms of a task. Throws `MovedError` if the device
 * has a task that moved away from the origin of the collector, and what `agreement` throws.
 * @param {Rows} rows
 * @param {Task} task
 * @param {Terms} terms
 * @param {string} origin
 * @returns {Change}
 */
export function accepted(rows, task, { mostEpsilon, lifetime }, origin) {
  const [owner] = rows.owner;
  const secret = owner?.secret ?? crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const agreed = agreementAt(rows, task, origin);
  const row = { secret, maximum: mostEpsilon, limit: nano(lifetime), ...agreed };
  const put = { owner: [/** @type {const} */ ({ self: "owner", ...row })], left: rows.owner.map(leaving) };
  return { put, remove: pausesBefore(rows, agreed) };
}

/**
 * Return the change to the newest task of a question, null if the user has not agreed to the question.
 * Throws as `accepted` does.
 * @param {Rows} rows
 * @param {Task} task
 * @param {string} origin
 * @returns {Change | null}
 */
export function updated(rows, task, origin) {
  const [owner] = rows.owner;
  if (owner === undefined || questionOf(owner) !== task.question) return null;
  if (owner.task === task.address) return {};
  const agreed = agreementAt(rows, task, origin);
  return { put: { owner: [{ ...owner, ...agreed }] }, remove: pausesBefore(rows, agreed) };
}

/**
 * @param {Rows} rows
 * @returns {Owner}
 */
export function ownerOf({ owner: [owner] }) {
  if (owner === undefined) throw new RequestError("You have not agreed to any task yet.");
  return owner;
}

/**
 * Return the task to answer from now on: `task`, or one that the device has and that extends or moves
 * `task`, also if it answered another question since.
 *
 * With two extensions of one task, an index could mean two items: the device would report ratings of
 * one item as those of the other.
 * @param {Pick<Rows, "owner" | "left">} rows
 * @param {Task} task
 * @returns {Pick<Owner, "task" | "question" | "items" | "ancestors" | "origin">}
 */
export function agreement({ owner, left }, { address, question, root, ancestors, items, origins }) {
  const origin = origins.at(-1) ?? null;
  const next = { task: address, question, items: items.length, ancestors, origin };
  const known = [...owner.map(leaving), ...left].find((one) => one.task === question);
  if (known === undefined || [address, ...ancestors].includes(known.address)) return next;
  // Every task of a question extends its first one, which may be in either format.
  const isFirst = address === root;
  const isEarlier = isFirst || known.ancestors.includes(address);
  // The other format of a first task has as many items, and no ancestor but the question.
  const isLonger = known.items > items.length || known.ancestors.length > Math.max(ancestors.length, 1);
  if (isEarlier && isLonger) {
    const { address: task, items: count, ancestors: before, origin: now = null } = known;
    return { task, question, items: count, ancestors: before, origin: now };
  }
  if (isFirst) return next;
  throw new CertificateError(
    `The provider extended the task ${root} in two ways, so the device sends nothing. Ask the ` +
      "provider to extend the task that devices have.",
  );
}

/** @param {Rows} rows @param {Task} task @param {string} origin */
function agreementAt(rows, task, origin) {
  const agreed = agreement(rows, task);
  refuseMoved(agreed.origin ?? null, origin);
  return agreed;
}

/**
 * Return the backoff to remove: that of the origin from which the provider moved.
 * @param {Rows} rows
 * @param {Pick<Owner, "origin">} agreed
 */
function pausesBefore({ owner: [owner], pause }, { origin }) {
  const [before, now] = [owner?.origin ?? null, origin ?? null];
  return { pause: before === null || now === null || before === now ? [] : pause };
}

/**
 * Return the part of the owner's task to store when another question is answered.
 * @param {Owner} owner
 * @returns {import("../store.js").Left}
 */
export function leaving(owner) {
  const { task: address, items = 0, ancestors = [], origin = null } = owner;
  return { task: questionOf(owner), address, items, ancestors, origin };
}

/**
 * Return the origin that the reports of a question go to, null for rows of older pages without it.
 * @param {Pick<Rows, "owner" | "left">} rows
 * @param {string} question
 */
export function originOf({ owner, left }, question) {
  const known = [...owner.map(leaving), ...left].find(({ task }) => task === question);
  return known?.origin ?? null;
}
