/** The consent of the device's owner: the task that they agreed to, its extensions and moves. */

import { CertificateError, RequestError } from "../errors.js";
import { questionOf } from "../sending/outbox.js";

/** @typedef {import("../store.js").Owner} Owner */

/**
 * @param {import("../store.js").Rows} rows
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
 * @param {Pick<import("../store.js").Rows, "owner" | "left">} rows
 * @param {import("../documents/task.js").Task} task
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
 * @param {Pick<import("../store.js").Rows, "owner" | "left">} rows
 * @param {string} question
 */
export function originOf({ owner, left }, question) {
  const known = [...owner.map(leaving), ...left].find(({ task }) => task === question);
  return known?.origin ?? null;
}
