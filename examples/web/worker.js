/** The same in a service worker: a page posts a rating and the terms that the person agreed to. */
import * as tacit from "./node_modules/tacit-device/index.js"; // no import map reaches a worker

const collector = new tacit.Collector();
const opened = tacit.openStore().then((store) => new tacit.Client({ store, collector }));
addEventListener("message", (event) => event.waitUntil(answer(event.data, event.source)));

async function answer({ item, level, terms }, page) {
  const [client, task] = await Promise.all([opened, tacit.fetchTask(collector)]);
  await client.rate(task, item, level);
  await client.accept(task, terms);
  const { stored } = await client.sync();
  page.postMessage({ stored, best: await client.recommend(task, 5) });
}
