/**
 * One device of the npm package: rates, fetches the newest model of a collector, and prints what it
 * recommends and predicts. Not a test: tests/simulation/test_across_domains.py runs it.
 *
 * Reads JSON: `url`, `ratings` as pairs of item and rating, and the `items` to predict.
 */

import { readFileSync } from "node:fs";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { fetchTask } from "../../src/tacit/page/device/sending/first_task.js";
import { Profile } from "../../src/tacit/page/device/recommending/profile.js";
import { fetchModel } from "../../src/tacit/page/device/recommending/published_model.js";
import { isList, recommend } from "../../src/tacit/page/device/recommending/recommend.js";

const { url, ratings, items } = JSON.parse(readFileSync(0, "utf8"));
const collector = new Collector({ origin: url });
const task = await fetchTask(collector);
const model = await fetchModel(collector, task);
if (model === null || isList(model)) throw new Error("no item model");
/** @type {Map<number, string>} */
const levels = new Map();
for (const [item, rating] of ratings) levels.set(task.items.indexOf(item), String(rating));
const profile = new Profile(model, new Map(ratings));
const predictions = items.map((/** @type {string} */ item) => profile.predict(item));
const best = recommend(task, model, levels, 20);
process.stdout.write(JSON.stringify({ best, predictions, rows: profile.rows }));
