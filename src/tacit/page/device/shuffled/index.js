/** Public API of the npm package for shuffled tasks. */

export { nats } from "../answering/ledger.js";
export { BudgetError, CertificateError, DataError, RequestError, TacitError } from "../errors.js";
export { ListProfile } from "../recommending/list_profile.js";
export { Profile } from "../recommending/profile.js";
export { openStore } from "../store.js";
export { ShuffledClient } from "./client.js";

/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */
/** @typedef {import("../store.js").Store} Store */
/** @typedef {import("./client.js").ShuffledOutcome} ShuffledOutcome */
/** @typedef {import("./client.js").ShuffledWorld} ShuffledWorld */
/** @typedef {import("./policy.js").ShuffledPolicy} ShuffledPolicy */
