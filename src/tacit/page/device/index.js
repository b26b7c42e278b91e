/** Public API of the npm package, for the pages of other sites. */

export { nats } from "./answering/ledger.js";
export { Client } from "./client.js";
export { BudgetError, CertificateError, DataError } from "./errors.js";
export { MovedError, RequestError, TacitError } from "./errors.js";
export { ListProfile } from "./recommending/list_profile.js";
export { Profile } from "./recommending/profile.js";
export { fetchModel } from "./recommending/published_model.js";
export { recommend } from "./recommending/recommend.js";
export { Collector } from "./sending/collector.js";
export { fetchTask } from "./sending/first_task.js";
export { openStore } from "./store.js";

/** @typedef {import("./client.js").SyncOutcome} SyncOutcome */
/** @typedef {import("./client.js").World} World */
/** @typedef {import("./documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("./documents/list_model.js").ListModel} ListModel */
/** @typedef {import("./documents/task.js").Task} Task */
/** @typedef {import("./store.js").Rows} Rows */
/** @typedef {import("./store.js").Store} Store */
