/** The device of the site: one client for all components, and what they show of it. */
import { Client, Collector, fetchTask, openStore } from "tacit-device";

export async function openDevice() {
  const collector = new Collector();
  const client = new Client({ store: await openStore(), collector });
  const task = await fetchTask(collector);
  return { client, task, hasConsent: await client.updateTask(task) };
}

/** Return what the site shows: the user's ratings, the answers due, and titles to recommend. */
export async function shown({ client, task }) {
  const { levels } = await client.history(task);
  const best = await client.recommend(task, 5); // the first time without ratings: it fetches the model
  const titles = best.map(({ item }) => task.titles[task.items.indexOf(item)]);
  return { levels, titles: levels.size === 0 ? [] : titles, due: await client.countDue(task) };
}
