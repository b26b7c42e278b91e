/** Ratings of one task as ratings of another: the same items, by id and title. */

import { RequestError } from "../errors.js";

/** @typedef {import("../documents/task.js").Task} Task */
/** @typedef {import("../store.js").Rating} Rating */

/**
 * Return the ratings of `to` for the rated items of `from` that both tasks list and that the user has
 * not rated in `to`. Throws `RequestError` for two tasks of one question, and of different scales.
 * @param {readonly Rating[]} ratings
 * @param {Task} from
 * @param {Task} to
 * @returns {Rating[]}
 */
export function copied(ratings, from, to) {
  if (from.question === to.question)
    throw new RequestError("The ratings to copy must be of an earlier task.");
  if (from.scale.text !== to.scale.text)
    throw new RequestError(
      `The ratings of that task are on the scale ${from.scale.text}, and this task has the scale ` +
        `${to.scale.text}; rate its items anew.`,
    );
  const places = new Map(to.items.map((_, place) => [titled(to, place), place]));
  const rated = new Set(ratings.filter(({ task }) => task === to.question).map(({ place }) => place));
  return ratings.flatMap(({ task, place: earlier, level }) => {
    const place = task === from.question ? places.get(titled(from, earlier)) : undefined;
    return place === undefined || rated.has(place) ? [] : [{ task: to.question, place, level }];
  });
}

/** @param {Task} task @param {number} place */
function titled({ items, titles }, place) {
  return JSON.stringify([String(items[place]), titles?.[place] ?? null]);
}
