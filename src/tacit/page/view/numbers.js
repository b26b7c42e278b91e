/** Formats of shares, numbers, durations and dates in the language of the texts. */

import { LANGUAGE } from "./words/language.js";

/** Format a share of one as a percentage. @param {number} share */
export function percent(share) {
  return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

/** Format a number with at most two decimals. @param {number} value */
export function short(value) {
  return String(Math.round(100 * value) / 100);
}

/** @param {number} value an integer */
export function grouped(value) {
  return value.toLocaleString(LANGUAGE);
}

/** Format a duration in its largest unit. @param {number} seconds */
export function duration(seconds) {
  const units = /** @type {const} */ ([
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ]);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["second", 1];
  const form = /** @type {const} */ ({ style: "unit", unit, unitDisplay: "long" });
  return Math.round(seconds / size).toLocaleString(LANGUAGE, form);
}

/**
 * Format the date, with the time if the task's epochs are shorter than a day.
 * @param {Pick<import("../device/documents/task.js").Task, "epochSeconds">} task
 * @param {number} moment Unix seconds
 */
export function day({ epochSeconds }, moment) {
  /** @type {Intl.DateTimeFormatOptions} */
  const exact = epochSeconds < 86_400 ? { timeStyle: "short" } : {};
  const form = { dateStyle: /** @type {const} */ ("long"), ...exact };
  return new Intl.DateTimeFormat(LANGUAGE, form).format(1000 * moment);
}
