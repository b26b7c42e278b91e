/** Texts of the page: headings, buttons, the catalogue and recommendations. */

import { hasOneLevel } from "../../device/documents/scale.js";
import { count, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

export const NO_TASK = "Nothing can be sent.";
export const INSECURE = "This page needs a secure connection (https) to store and hash data.";
export const ANEW =
  "The provider has a new question. Nothing is sent to it before you agree.";
export const FIND = "Search";
export const NONE_FOUND = "No item found.";
export const MORE = "Show more";
export const RATE = "rate";
export const YOUR_RATING = "Your rating";
export const CLEAR = "Clear";
export const TRUE = "true";
export const NO_MODEL =
  "The provider has not published a model yet. Recommendations will appear here.";

/**
 * Return the texts of index.html, by `data-text`.
 * @param {Task} task
 * @returns {{ readonly [name: string]: string }}
 */
export function placesInWords({ scale }) {
  const { yours, even } = vocabulary(scale);
  return {
    ...(hasOneLevel(scale) ? MARKING : ratingInWords(scale)),
    next: "For you",
    reports: "Sent from this device",
    bars:
      `The bars show what an observer concludes from an answer if ${even} were equally likely ` +
      "before. If the true one does not stand out, the noise hides it.",
    yours: "This device",
    keeps:
      `It stores ${yours}, a secret from which your pseudonyms are derived, all answers and ` +
      "the unsent reports. The exported file has no secret, token or report, so it cannot be " +
      `used to send answers as you. It contains ${yours} without noise. Keep it private.`,
    export: "Export",
    erase: "Erase …",
    erasing: "Erase this device?",
    wiped:
      `Your secret, ${yours}, your answers and the unsent reports are erased. One number is kept: ` +
      "the epsilon that you have spent so far. Starting over does not reset it.",
    reach:
      "This device asks the provider to erase what you sent, until the provider confirms. The " +
      "provider sees that you asked, and when. Models trained on your answers and copies " +
      "elsewhere are not erased, nor are answers to a question that did not name its provider.",
    keep: "Keep everything",
    wipe: "Erase",
    earlier: `Copy ${yours}?`,
    copies:
      `This device has ${yours} for the provider's earlier question. You can copy them for items ` +
      "that are also in the new question. Nothing is sent. If you then agree to the new question, " +
      `the provider may recognize from ${yours} that your old and your new answers are from one user.`,
    copy: `Copy ${yours}`,
    move: "The provider has moved",
    moves:
      "Nothing is sent there unless you agree. If you do, all later answers go there, and so do " +
      `requests to erase earlier ones. This device keeps ${yours}. Your pseudonym and the epsilon ` +
      "that you have spent stay the same.",
  };
}

const MARKING = {
  lead: "Mark items that you know to get recommendations. Nothing is sent unless you agree.",
  rate: "Mark items",
  how: "Tap an item to mark it. Tap it again to clear the mark.",
};

/** @param {import("../../device/documents/scale.js").Scale} scale */
function ratingInWords({ levels: [low = "", ...levels] }) {
  return {
    lead: "Rate a few items to get recommendations. Nothing is sent unless you agree.",
    rate: "Rate",
    how: `${low} is “not for me”, ${levels.at(-1)} is “loved it”.`,
  };
}

/** @param {string} name of the task */
export function titleInWords(name) {
  return `${name} – Tacit`;
}

/** @param {Task} task */
export function onlyMineInWords({ scale }) {
  return `only items I ${vocabulary(scale).did}`;
}

/** @param {number} many */
export function foundInWords(many) {
  return count(many, "title");
}

/** @param {string} title */
export function clearInWords(title) {
  return `Clear the rating of ${title}`;
}

/**
 * @param {string} origin of the provider until now
 * @param {string} successor its origin from now on
 */
export function movedInWords(origin, successor) {
  return (
    `The provider of this page has moved from ${origin} to ${successor}. It signed this with the ` +
    "key in its question, which this device has verified."
  );
}

/** @param {string} successor origin */
export function moveInWords(successor) {
  return `Send to ${successor} from now on`;
}

/** @param {Task} task @param {number} n entries that were copied from an earlier question */
export function copiedInWords({ scale }, n) {
  return `Copied: ${count(n, vocabulary(scale).noun)}.`;
}

/** @param {string} title of the first recommendation */
export function peekInWords(title) {
  return `For you: ${title}`;
}

/**
 * State the source of the recommendations. `list`: whether the model is a list model. `known`:
 * number of items that the user rated.
 * @param {Task} task
 * @param {boolean} list
 * @param {number} known
 */
export function basisInWords({ scale }, list, known) {
  if (known > 0) return `Computed on this device from ${vocabulary(scale).yours}.`;
  const most = list ? "popular" : "liked";
  return `Most ${most} overall. ${vocabulary(scale).verb} a few items for your own list.`;
}
