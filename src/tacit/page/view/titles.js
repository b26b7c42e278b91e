/** What a task calls its items. */

/**
 * The title of a place, or its id where the task gives no titles.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @returns {string}
 */
export function titleOf(task, place) {
  return task.titles?.[place] || String(task.items[place]);
}
