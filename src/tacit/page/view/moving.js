/** Notice of a provider that moved: it replaces rating and sending until the user agrees. */

import { fillPlaces, find, say } from "./dom.js";
import { moveInWords, movedInWords, placesInWords, titleInWords } from "./words/page.js";

/** Sections that cannot be used before the user agrees. */
const OTHERS = ["rate", "next", "send", "reports"];

/**
 * Show the notice. The user can still export and erase the data on this device.
 * @param {import("../device/documents/task.js").Task} task
 * @param {string} origin of the collector that the device sent to
 * @param {string} successor
 */
export function showMove(task, origin, successor) {
  say("name", task.name);
  document.title = titleInWords(task.name);
  fillPlaces(placesInWords(task));
  for (const id of OTHERS) find(id, HTMLElement).hidden = true;
  say("moved", movedInWords(origin, successor));
  say("move-yes", moveInWords(successor));
  find("move", HTMLElement).hidden = false;
  find("home", HTMLElement).hidden = false;
}

/** Hide the notice after the user agreed. Sending and reports are shown when there are any. */
export function hideMove() {
  find("move", HTMLElement).hidden = true;
  for (const id of ["rate", "next"]) find(id, HTMLElement).hidden = false;
}
