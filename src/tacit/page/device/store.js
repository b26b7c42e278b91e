/**
 * The device's storage: one IndexedDB that survives a crash at any point.
 *
 * Rows include their keys. A `commit` is one transaction, one synchronous batch of requests: an
 * IndexedDB transaction closes automatically when anything else is awaited. Everything that takes
 * time is therefore computed first. The data are on disk once `commit` resolves.
 */

import { mustBe } from "./arguments.js";
import { DataError, RequestError } from "./errors.js";

/*
 * `task` in a row is the address of a question, independent of the task's format (`question` of a
 * `Task`). Rows in which it is another address are documented below.
 */

/**
 * The user's secret and consent. `secret`: pseudonyms are derived from it. `maximum`: the maximum
 * epsilon per rating (nats, a decimal). `limit`: the lifetime limit in nano-epsilon. `task`: the
 * address of the task that the user agreed to. `question`: its question, absent in rows of older
 * pages, whose task is a tacit-task-1. `items`: the number of its items, absent in rows of pages
 * that had no extensions. `ancestors`: addresses of the tasks that it extends, absent in older rows.
 * `origin`: that its reports go to, absent in older rows, null if the task names no provider.
 * @typedef {{ readonly self: "owner", readonly secret: import("./documents/hashing.js").Bytes,
 *   readonly task: string, readonly question?: string, readonly maximum: string,
 *   readonly limit: bigint, readonly items?: number, readonly ancestors?: readonly string[],
 *   readonly origin?: string | null }} Owner
 */
/**
 * The newest task of a question that the user left for another one: its address, the number of its
 * items, the tasks that it extends, and the origin as in `Owner`.
 * @typedef {{ readonly task: string, readonly address: string, readonly items: number,
 *   readonly ancestors: readonly string[], readonly origin?: string | null }} Left
 */
/** @typedef {{ readonly self: "token", readonly token: string }} Enrolment permission to send */
/** @typedef {{ readonly self: "lifetime", readonly spent: bigint }} Spent in nano-epsilon */
/** @typedef {{ readonly task: string, readonly place: number, readonly level: string }} Rating */
/**
 * The symbol drawn for a value, once in a lifetime. `value`: a level, or "missing".
 * @typedef {{ readonly task: string, readonly channel: string, readonly place: number,
 *   readonly value: string, readonly symbol: number }} Answer
 */
/**
 * The channel of a task that is answered block by block, once its limit is reserved.
 * @typedef {{ readonly task: string, readonly channel: string }} Chain
 */
/**
 * The symbol drawn for an item of such a task, once per generation, whatever its value.
 * @typedef {Answer & { readonly generation: number }} BlockAnswer
 */
/**
 * The last value reported through a channel, and its epoch. Under `rated` an item has one row.
 * @typedef {{ readonly task: string, readonly place: number, readonly value: string,
 *   readonly channel: string, readonly epoch: number }} Reported
 */
/**
 * The bytes of a report not yet acknowledged. `place`: its first catalogue index. `single`: whether
 * that is its only one (plan "rated"): it is due again if the report is not stored. `until`: the
 * time after which the collector rejects it, Unix seconds. `address`: of the task it was made for,
 * unless that is `task`.
 * @typedef {{ readonly task: string, readonly epoch: number, readonly place: number,
 *   readonly id: string, readonly bytes: string, readonly single: boolean,
 *   readonly until: number, readonly address?: string }} Outgoing
 */
/**
 * The inputs of the id of every report ever made: no other report may have that id, even if the
 * clock was changed. `place`: its first catalogue index.
 * @typedef {{ readonly task: string, readonly epoch: number, readonly place: number }} Made
 */
/**
 * The pseudonym inputs of a question, fixed by its first report.
 * @typedef {import("./answering/pseudonym.js").Named & { readonly task: string }} Names
 */
/**
 * A pending erasure of a pseudonym, until the provider confirms it: the address of its task, the
 * erasure key, the enrolment token, and the origin as in `Owner`.
 * @typedef {{ readonly task: string, readonly key: string, readonly token: string | null,
 *   readonly origin?: string | null }} Erasure
 */
/**
 * The backoff after a failure: attempts since the outbox was last sent in full, and the time of the
 * next attempt, Unix seconds.
 * @typedef {{ readonly self: "pause", readonly attempts: number, readonly next: number }} Pause
 */
/**
 * A shuffled task that was answered: its address and document, the address of the task that announced
 * it, the origin of the shuffler, the time of closing (Unix seconds), and the sealed bundle until it
 * is acknowledged.
 * @typedef {{ readonly task: string, readonly document: import("./documents/hashing.js").Bytes,
 *   readonly first: string | null, readonly shuffler: string, readonly closes: number,
 *   readonly bundle: import("./documents/hashing.js").Bytes | null }} Shuffled
 */
/**
 * A shuffler, by origin: the SHA-256 of the last verified line of its register, and the backoff as
 * in `Pause`.
 * @typedef {{ readonly shuffler: string, readonly head: string, readonly attempts: number,
 *   readonly next: number }} KnownShuffler
 */
/**
 * The one-time token of a shuffled task, by the task's address, until its bundle is drawn. `message`,
 * `inverse`: what was blinded, empty once it is signed. `due`: Unix seconds from which the bundle may
 * be sent. `attempts`, `next`: the backoff of requests for the signature, as in `Pause`.
 * @typedef {{ readonly task: string, readonly token: import("./documents/hashing.js").Bytes,
 *   readonly message: import("./documents/hashing.js").Bytes,
 *   readonly inverse: import("./documents/hashing.js").Bytes,
 *   readonly signature: import("./documents/hashing.js").Bytes | null, readonly due: number,
 *   readonly attempts: number, readonly next: number }} Token
 */
/**
 * @typedef {{ owner: readonly Owner[], enrolment: readonly Enrolment[], ledger: readonly Spent[],
 *   ratings: readonly Rating[], answers: readonly Answer[], reported: readonly Reported[],
 *   outbox: readonly Outgoing[], made: readonly Made[], names: readonly Names[],
 *   pause: readonly Pause[], erasures: readonly Erasure[], chains: readonly Chain[],
 *   blocks: readonly BlockAnswer[], shuffled: readonly Shuffled[],
 *   shufflers: readonly KnownShuffler[], left: readonly Left[], tokens: readonly Token[] }} Rows
 */
/** @typedef {{ readonly put?: Partial<Rows>, readonly remove?: Partial<Rows> }} Change */
/**
 * `commit` removes rows, then puts rows, atomically and durably.
 * @typedef {{ readonly read: () => Promise<Rows>,
 *   readonly commit: (change: Change) => Promise<void>, readonly close?: () => void }} Store
 */

/** The key columns of each store. @type {{ readonly [name in keyof Rows]: string[] }} */
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
  chains: ["task"],
  blocks: ["task", "generation", "place"],
  shuffled: ["task"],
  shufflers: ["shuffler"],
  left: ["task"],
  tokens: ["task"],
};
export const NAMES = /** @type {(keyof Rows)[]} */ (Object.keys(KEYS));

/** The store of a closed device. @type {Store} */
export const CLOSED = { read: refuse, commit: refuse };

/**
 * Open the database, and upgrade that of an older page in place. Throws `DataError` while such a
 * page is open in another tab and blocks the upgrade, and `RequestError` without IndexedDB.
 * @param {string} [name]
 * @returns {Promise<Store>}
 */
export async function openStore(name = "tacit") {
  mustBe("string", name, "the name of a database", 'write it as a string, as in "films"');
  if (globalThis.indexedDB === undefined)
    throw new RequestError("IndexedDB is missing here; open the store in a browser.");
  const request = indexedDB.open(name, 7);
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
    close: () => database.close(),
  };
}

/**
 * Run `work` while no other tab of this browser uses the store.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function inAllTabs(work) {
  if (globalThis.navigator?.locks === undefined)
    throw new RequestError("Web Locks are required here; open the page over https.");
  return await navigator.locks.request("tacit", work);
}

/**
 * Return the key of a row.
 * @template {keyof Rows} Name
 * @param {Name} store
 * @param {Rows[Name][number]} row
 * @returns {(string | number)[]}
 */
export function keyOf(store, row) {
  const values = new Map(Object.entries(row));
  return KEYS[store].map((key) => values.get(key));
}

/** @returns {Promise<never>} */
async function refuse() {
  throw new RequestError("The device is closed; open its store again.");
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
