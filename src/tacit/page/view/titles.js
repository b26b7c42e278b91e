/** Display titles of items. */

/**
 * Return the title of an item, or its id in a task without titles.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @returns {string}
 */
export function titleOf(task, place) {
  return task.titles?.[place] || String(task.items[place]);
}
