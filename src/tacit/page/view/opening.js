/**
 * Opening of the device at a visit: its collector, its database, and the token of the address.
 *
 * After a move of the provider, the page and its data stay at the origin of the page, since a browser
 * stores data by origin. The collector is then that of the successor.
 */

import { Client } from "../device/client.js";
import { Collector } from "../device/sending/collector.js";
import { openStore } from "../device/store.js";

/**
 * `successor`: origin of a move to which the user agrees. Default: that of the last one that the
 * user agreed to, or that of the page.
 * @param {string} [successor]
 * @returns {Promise<{ client: Client, collector: Collector }>}
 */
export async function openDevice(successor) {
  const here = new Collector();
  const store = await openStore(databaseOf(here));
  const origin = successor ?? agreedOrigin(await store.read()) ?? here.origin;
  const collector = origin === here.origin ? here : new Collector({ origin });
  const client = new Client({ store, collector });
  await register(client);
  return { client, collector };
}

/**
 * Return the origin that reports go to, or else pending erasures.
 * @param {import("../device/store.js").Rows} rows
 */
function agreedOrigin({ owner: [owner], erasures }) {
  return owner?.origin ?? erasures.find(({ origin }) => origin)?.origin;
}

/**
 * Store the enrolment token of the address, and remove it from the address and the history.
 * @param {Client} client
 */
async function register(client) {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  await client.register(token);
  history.replaceState(null, "", location.pathname);
}

/**
 * Return the name of the collector's database. Collectors at other paths of the same origin have
 * separate databases.
 * @param {Collector} collector
 */
function databaseOf({ origin, place }) {
  return place === origin ? "tacit" : `tacit ${place}`;
}
