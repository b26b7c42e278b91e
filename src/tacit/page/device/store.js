/**
 * What the device keeps, in one IndexedDB that survives a crash at any point.
 *
 * Rows carry their own keys. A `commit` is one transaction, one synchronous batch of requests: an
 * IndexedDB transaction ends by itself when anything else is awaited, so whatever takes time is
 * computed before. It is on disk when the promise is fulfilled.
 */

import { DataError } from "./errors.js";

/*
 * `task` in a row is a question: the address of what is asked, whichever format it is asked in
 * (`question` of a `Task`). Where it is another address the row says so.
 */

/**
 * Who the person is here and what they allow: `secret` names them, `maximum` is their most epsilon a
 * rating (nats, a decimal), `limit` their lifetime limit in nano-epsilon. `task`: the address of the
 * task that they agreed to, `question` what it asks; a row of an older page has none, and its task
 * is a tacit-task-1.
 * @typedef {{ readonly self: "owner", readonly secret: import("./documents/hashing.js").Bytes,
 *   readonly task: string, readonly question?: string, readonly maximum: string,
 *   readonly limit: bigint }} Owner
 */
/** @typedef {{ readonly self: "token", readonly token: string }} Enrolment leave to send */
/** @typedef {{ readonly self: "lifetime", readonly spent: bigint }} Spent in nano-epsilon */
/** @typedef {{ readonly task: string, readonly place: number, readonly level: string }} Rating */
/**
 * The symbol that answers for a value, drawn once and for all. `value`: a level, or "missing".
 * @typedef {{ readonly task: string, readonly channel: string, readonly place: number,
 *   readonly value: string, readonly symbol: number }} Answer
 */
/**
 * The value reported last through a channel, and in which epoch. Under `rated` a place has one row.
 * @typedef {{ readonly task: string, readonly place: number, readonly value: string,
 *   readonly channel: string, readonly epoch: number }} Reported
 */
/**
 * The bytes of a report not yet acknowledged. `place`: the first it answers for. `single`: the
 * only one (plan "rated"), due again if nobody takes the report. `until`: when the collector stops
 * taking it, Unix seconds. `address`: of the task it was made for, unless that is `task`.
 * @typedef {{ readonly task: string, readonly epoch: number, readonly place: number,
 *   readonly id: string, readonly bytes: string, readonly single: boolean,
 *   readonly until: number, readonly address?: string }} Outgoing
 */
/**
 * A report that was ever made, by what its id is made of: no other one may have that id, whatever
 * the clock says. `place`: the first it answers for.
 * @typedef {{ readonly task: string, readonly epoch: number, readonly place: number }} Made
 */
/**
 * What the names of the reports on a question are made for, from the first one on.
 * @typedef {import("./answering/pseudonym.js").Named & { readonly task: string }} Names
 */
/**
 * A name to be erased, until the provider says that it is: the address of its task, the key to ask
 * with, and the token that goes along.
 * @typedef {{ readonly task: string, readonly key: string, readonly token: string | null }} Erasure
 */
/**
 * After a failure: attempts since the outbox last got through, and when the next one may be, in
 * Unix seconds.
 * @typedef {{ readonly self: "pause", readonly attempts: number, readonly next: number }} Pause
 */
/**
 * @typedef {{ owner: readonly Owner[], enrolment: readonly Enrolment[], ledger: readonly Spent[],
 *   ratings: readonly Rating[], answers: readonly Answer[], reported: readonly Reported[],
 *   outbox: readonly Outgoing[], made: readonly Made[], names: readonly Names[],
 *   pause: readonly Pause[], erasures: readonly Erasure[] }} Rows
 */
/** @typedef {{ readonly put?: Partial<Rows>, readonly remove?: Partial<Rows> }} Change */
/**
 * `commit` removes first, then puts: all of it, durably, or nothing.
 * @typedef {{ readonly read: () => Promise<Rows>,
 *   readonly commit: (change: Change) => Promise<void> }} Store
 */

/** What identifies a row, store by store. @type {{ readonly [name in keyof Rows]: string[] }} */
export const KEYS = {
  owner: ["self"],
  enrolment: ["self"],
  ledger: ["self"],
  ratings: ["task", "place"],
  answers: ["task", "channel", "place", "value"],
  reported: ["task", "channel", "place"],
  outbox: ["task", "epoch", "place"],
  made: ["task", "epoch", "place"],
  names: ["task"],
  pause: ["self"],
  erasures: ["key"],
};
export const NAMES = /** @type {(keyof Rows)[]} */ (Object.keys(KEYS));

/**
 * What an older page made is upgraded where it is. Throws `DataError` while such a page is open in
 * another tab, which keeps it from being.
 * @param {string} [name]
 * @returns {Promise<Store>}
 */
export async function openStore(name = "tacit") {
  const request = indexedDB.open(name, 3);
  request.onupgradeneeded = () => {
    const absent = NAMES.filter((store) => !request.result.objectStoreNames.contains(store));
    for (const store of absent) request.result.createObjectStore(store, { keyPath: KEYS[store] });
  };
  const database = await Promise.race([fulfilled(request), blocked(request)]);
  database.onversionchange = () => database.close();
  return {
    read: async () => {
      const transaction = database.transaction(NAMES, "readonly");
      const all = NAMES.map((store) => fulfilled(transaction.objectStore(store).getAll()));
      const rows = await Promise.all(all);
      /** @type {unknown} */
      const named = Object.fromEntries(NAMES.map((store, k) => [store, rows[k]]));
      return /** @type {Rows} */ (named);
    },
    commit: ({ put = {}, remove = {} }) => {
      const transaction = database.transaction(NAMES, "readwrite", { durability: "strict" });
      for (const store of NAMES) {
        const rows = transaction.objectStore(store);
        for (const row of remove[store] ?? []) rows.delete(keyOf(store, row));
        for (const row of put[store] ?? []) rows.put(row);
      }
      return ended(transaction);
    },
  };
}

/**
 * The key of a row.
 * @template {keyof Rows} Name
 * @param {Name} store
 * @param {Rows[Name][number]} row
 * @returns {(string | number)[]}
 */
export function keyOf(store, row) {
  const values = new Map(Object.entries(row));
  return KEYS[store].map((key) => values.get(key));
}

/**
 * @param {IDBOpenDBRequest} request
 * @returns {Promise<never>}
 */
function blocked(request) {
  return new Promise((_, reject) => {
    request.onblocked = () =>
      reject(new DataError("An older version of this page is open in another tab: close it first."));
  });
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function fulfilled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @param {IDBTransaction} transaction
 * @returns {Promise<void>}
 */
function ended(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
