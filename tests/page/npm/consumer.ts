/** A site that is written in TypeScript: what is right passes the compiler, and what is wrong does not. */

import {
  BudgetError,
  Client,
  Collector,
  ListProfile,
  Profile,
  TacitError,
  fetchModel,
  fetchTask,
  nats,
  openStore,
  recommend,
} from "tacit-device";
import type { ItemModel, ListModel, Rows, Store, SyncOutcome, Task, World } from "tacit-device";

const collector = new Collector({ origin: "https://films.example", place: "https://films.example/shop", fetch });
const store: Store = await openStore("films");
const world: World = { store, collector };
const client = new Client(world);
const task: Task = await fetchTask(collector);
const item: string | number = task.items[0] ?? 7;
await client.rate(task, item, "4");
await client.accept(task, { mostEpsilon: "1", lifetime: "50" });
const outcome: SyncOutcome = await client.sync();
const refused: BudgetError | null = outcome.refusal;
const rows: Rows = await client.read();
const model: ItemModel | ListModel | null = await fetchModel(collector, task);
const best: { item: string | number; score: number }[] =
  recommend(task, model, (await client.history(task)).levels, 5);
const same: { item: string | number; score: number }[] = await client.recommend(task);
const due: number = await client.countDue(task);
const spent: string = nats(rows.ledger[0]?.spent ?? 0n);
export const said = [refused instanceof TacitError, best, same, due, spent, ListProfile, Profile];

// @ts-expect-error: an epsilon is a decimal in a string, which no float can spoil
await client.accept(task, { mostEpsilon: 1, lifetime: "50" });
// @ts-expect-error: terms have no default
await client.accept(task);
// @ts-expect-error: options have names
new Collector("https://films.example");
// @ts-expect-error: no option has this name
new Collector({ url: "https://films.example" });
// @ts-expect-error: what was stored is a number
outcome.stored.trim();
// @ts-expect-error: a client keeps its store to itself
client.store;
// @ts-expect-error: no module but the one that is exported
await import("tacit-device/answering/draw.js");
