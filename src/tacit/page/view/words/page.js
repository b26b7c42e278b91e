/** What the page says around what a person does: headings, buttons, the catalogue, what suits them. */

import { hasOneLevel } from "../../device/documents/scale.js";
import { count, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

export const LANGUAGE = "en-GB";
export const DIRECTION = "ltr";
export const NO_TASK = "Nothing can be sent.";
export const INSECURE = "This page needs a secure connection (https) to keep and hash anything.";
export const ANEW = 
  "The provider asks something else now, which you have not agreed to: you will be asked before " +
  "anything is sent.";
export const FIND = "Find";
export const NONE_FOUND = "Nothing is called that.";
export const MORE = "Show more";
export const RATE = "rate";
export const YOUR_RATING = "Your rating";
export const CLEAR = "Clear";
export const TRUE = "true";
export const NO_MODEL =
  "The provider has published no model yet. Once it has, this device picks for you here.";

/**
 * What index.html says, by the names of its places.
 * @param {Task} task
 * @returns {{ readonly [place: string]: string }}
 */
export function placesInWords({ scale }) {
  const { yours, even } = vocabulary(scale);
  return {
    ...(hasOneLevel(scale) ? MARKING : ratingInWords(scale)),
    next: "For you",
    told: "What left this device",
    bars:
      `The bars are what an answer tells somebody who, before, thought ${even} equally likely. ` +
      "Where the true one does not stand out, that is the noise at work.",
    yours: "This device",
    keeps:
      `It keeps ${yours}, a secret that names you, every answer ever drawn and what waits to be ` +
      "sent. The file leaves out the secret, your token and the reports themselves, so that nobody " +
      `can send in your name with it. It holds ${yours}, without noise: keep it to yourself.`,
    export: "Export",
    erase: "Erase …",
    erasing: "Erase this device?",
    wiped:
      `Your secret, ${yours}, your answers and what waits to be sent are wiped. One number is kept: ` +
      "the epsilon you have spent in your life, because starting over does not give it back.",
    reach:
      "The provider is asked to erase what you sent, until it says that it did. It sees that you " +
      "ask, and when. What models have learnt from your answers, and copies elsewhere, are out of " +
      "reach; so is what you sent to a question that did not name its provider yet.",
    keep: "Keep everything",
    wipe: "Erase",
  };
}

const MARKING = {
  lead: "Tap what is there and see what suits you; nothing leaves this device unless you agree to it.",
  rate: "What is there?",
  how: "Tap an item, and it is there; tap again, and it is not.",
};

/** @param {import("../../device/documents/scale.js").Scale} scale */
function ratingInWords({ levels: [low = "", ...levels] }) {
  return {
    lead: "Rate a few and see what suits you; nothing leaves this device unless you agree to it.",
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
  return `only what I ${vocabulary(scale).did}`;
}

/** @param {number} many */
export function foundInWords(many) {
  return count(many, "title");
}

/** @param {string} title */
export function clearInWords(title) {
  return `Clear the rating of ${title}`;
}

/** @param {string} title of what is recommended first */
export function peekInWords(title) {
  return `For you: ${title}`;
}

/**
 * Where recommendations come from. `list`: from a list model; `known`: how many items of the
 * person's.
 * @param {Task} task
 * @param {boolean} list
 * @param {number} known
 */
export function basisInWords({ scale }, list, known) {
  if (known > 0) return `Worked out on this device, from ${vocabulary(scale).yours}.`;
  return `Nothing of yours is known yet: these ${list ? "are the most popular" : "please most people"}.`;
}
