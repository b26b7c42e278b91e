/** The consent of the device's owner: the task that they agreed to, and its extensions. */

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
 * Return the task to answer from now on: `task`, or that of the owner if it extends `task`.
 *
 * With two extensions of one task, an index could mean two items: the device would report ratings of
 * one item as those of the other.
 * @param {Owner | undefined} owner
 * @param {import("../documents/task.js").Task} task
 * @returns {Pick<Owner, "task" | "question" | "items">}
 */
export function agreement(owner, { address, question, root, ancestors, items }) {
  const next = { task: address, question, items: items.length };
  if (owner === undefined || questionOf(owner) !== question) return next;
  if ([address, ...ancestors].includes(owner.task)) return next;
  // Every task of a question extends its first one, which may be in either format.
  const isFirst = address === root;
  const { task, items: present = 0 } = owner;
  if (isFirst && present > items.length) return { task, question, items: present };
  if (isFirst) return next;
  throw new CertificateError(
    `The provider extended the task ${root} in two ways, so the device sends nothing. Ask the ` +
      "provider to extend the task that devices have.",
  );
}
