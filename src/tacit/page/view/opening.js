/** Opening of the device at a visit: its collector, its database, and the token of the address. */

import { Client } from "../device/client.js";
import { Collector } from "../device/sending/collector.js";
import { openStore } from "../device/store.js";

/** @returns {Promise<{ client: Client, collector: Collector }>} */
export async function openDevice() {
  const collector = new Collector();
  const client = new Client({ store: await openStore(databaseOf(collector)), collector });
  await register(client);
  return { client, collector };
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
