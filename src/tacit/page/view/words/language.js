/** Language and direction of all texts, and of numbers and dates in them. */

export const LANGUAGE = "en-GB";
export const DIRECTION = "ltr";
