/** Asks for a rating, sends it if the person agrees, and recommends. */
import { Client, Collector, fetchTask, openStore } from "tacit-device";

const collector = new Collector();
const client = new Client({ store: await openStore(), collector });
const task = await fetchTask(collector);
await client.rate(task, task.items[0], prompt(`${task.titles[0]}: how many stars, from 1 to 5?`));
if (confirm("Send your stars, made noisy? That you rated this becomes public."))
  await client.accept(task, { mostEpsilon: "1", lifetime: "50" }).then(() => client.sync());
const best = await client.recommend(task, 5);
document.body.append(best.map(({ item }) => task.titles[task.items.indexOf(item)]).join(", "));
