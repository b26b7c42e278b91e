/** Calls of the public API that cannot be answered: each gets its sentence, and changes nothing. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as device from "../../src/tacit/page/device/index.js";
import { fromBytes } from "../../src/tacit/page/device/documents/item_model.js";
import * as listModel from "../../src/tacit/page/device/documents/list_model.js";
import * as world from "./world.js";

const { client, store, shop, task } = await world.device("rated");
const other = await world.example("catalogue");
const elsewhere = await world.successor(shop.document, "https://other.example");
const closed = new device.Client({ store: new world.Memory(), collector: shop });
closed.close();
/** A client whose collector has no https. */
const open = new device.Client({ store, collector: new device.Collector({ origin: "http://films.example" }) });
const [{ model, list_model: list }] = JSON.parse(
  readFileSync(new URL("../vectors/unknown.json", import.meta.url), "utf8"),
);
const items = fromBytes(Uint8Array.from(Buffer.from(model, "base64")));
const lists = listModel.fromBytes(Uint8Array.from(Buffer.from(list, "base64")));
const FOREIGN = ["no such film", "another"];
const rows = await store.read();
const terms = { mostEpsilon: "1", lifetime: "50" };
/** @type {Map<number, string>} */
const levels = new Map();
const place = "https://films.example/shop/";
const collector = "write new Collector({ origin: location.origin }).";
const written = "write new Client({ store, collector }).";
const returned = "pass what fetchTask returned.";
const loaded = "pass what fetchModel returned";
const string = "write it as a string, as in '0.5'.";
const line = "The token must be one line of printable ASCII characters without spaces.";
const is_closed = "The device is closed; open its store again.";

/** A caller who has no types. @type {any} */
const any = device;
/** @type {any} */
const mine = client;
/** @type {any} */
const [profile, listed] = [new device.Profile(items, new Map()), new device.ListProfile(lists, [])];

/** @type {[call: string, work: () => unknown, sentence: string][]} */
const CALLS = [
  // Wrong kinds and unknown options.
  ["Collector(fetch)", () => new any.Collector(fetch), `Expected the options of a collector, got function; ${collector}`],
  ["Collector(origin)", () => new any.Collector("https://films.example"), `Expected the options of a collector, got string; ${collector}`],
  ["Collector(null)", () => new any.Collector(null), `Expected the options of a collector, got null; ${collector}`],
  ["Collector({ url })", () => new any.Collector({ url: "https://films.example" }), `url is not one of the options of a collector (origin, place, fetch); ${collector}`],
  ["Collector()", () => new any.Collector(), `Expected the origin of a collector, got undefined; ${collector}`],
  ["Collector({ origin: path })", () => new any.Collector({ origin: "https://films.example/" }), `The origin of a collector must be one of http or https; ${collector}`],
  ["Collector({ origin: with a password })", () => new any.Collector({ origin: "https://me:pass@films.example" }), `The origin of a collector must be one of http or https; ${collector}`],
  ["Collector({ origin: 7 })", () => new any.Collector({ origin: 7 }), `Expected the origin of a collector, got 7; ${collector}`],
  ["Collector({ place })", () => new any.Collector({ origin: world.PROVIDER, place }), `place must be https://films.example with a path such as /films.`],
  ["Collector({ fetch })", () => new any.Collector({ origin: world.PROVIDER, fetch: "fetch" }), "Expected a function such as fetch, got string; leave it out."],
  ["openStore(7)", () => any.openStore(7), 'Expected the name of a database, got 7; write it as a string, as in "films".'],
  ["openStore() in Node", () => any.openStore(), "IndexedDB is missing here; open the store in a browser."],
  ["Client()", () => new any.Client(), `Expected the options of a client, got undefined; ${written}`],
  ["Client({ store })", () => new any.Client({ store }), `Expected a collector, got undefined; ${written}`],
  ["Client({ store: name })", () => new any.Client({ store: "films", collector: shop }), "Expected a store, got string; pass what openStore returned."],
  ["Client({ store: promise })", () => new any.Client({ store: Promise.resolve(), collector: shop }), "Expected a store, got Promise without read; pass what openStore returned."],
  ["Client({ epsilon })", () => new any.Client({ store, collector: shop, epsilon: "1" }), `epsilon is not one of the options of a client (store, collector, clock, words, alone); ${written}`],
  ["fetchTask()", () => any.fetchTask(), "Expected a collector, got undefined; pass new Collector()."],
  ["fetchTask(origin)", () => any.fetchTask(world.PROVIDER), "Expected a collector, got string; pass new Collector()."],
  ["fetchModel(client)", () => any.fetchModel(client, task), "Expected a collector, got Client without newestModel; pass new Collector()."],
  ["fetchModel(shop)", () => any.fetchModel(shop), `Expected a task, got undefined; ${returned}`],
  // Terms.
  ["accept(task)", () => mine.accept(task), 'Expected the user\'s terms, got undefined; write { mostEpsilon: "1", lifetime: "50" }.'],
  ["accept(task, epsilon)", () => mine.accept(task, "1"), 'Expected the user\'s terms, got string; write { mostEpsilon: "1", lifetime: "50" }.'],
  ["accept(task, { epsilon })", () => mine.accept(task, { epsilon: "1" }), 'epsilon is not one of the user\'s terms (mostEpsilon, lifetime); write { mostEpsilon: "1", lifetime: "50" }.'],
  ["accept(float)", () => mine.accept(task, { ...terms, mostEpsilon: 0.5 }), `Expected an epsilon, got 0.5; ${string}`],
  ["accept(no lifetime)", () => mine.accept(task, { mostEpsilon: "1" }), `Expected an epsilon, got undefined; ${string}`],
  ["accept(1e3)", () => mine.accept(task, { ...terms, lifetime: "1e3" }), "Epsilon '1e3' is not a plain decimal such as 0.5."],
  ["accept(address)", () => mine.accept(task.address, terms), `Expected a task, got string; ${returned}`],
  ["accept(of another provider)", () => mine.accept(elsewhere.task, terms), "The provider of this task is https://other.example, but the task was received from https://films.example, so the device sends nothing."],
  ["updateTask(of another provider)", () => mine.updateTask(elsewhere.task), "The provider of this task is https://other.example, but the task was received from https://films.example, so the device sends nothing."],
  ["updateTask()", () => mine.updateTask(), `Expected a task, got undefined; ${returned}`],
  ["register()", () => mine.register(), "Expected an enrolment token, got undefined; pass the one that the provider issued."],
  ["register(two lines)", () => mine.register("secret\ntoken"), line],
  ["register(two words)", () => mine.register("secret token"), line],
  ["register(another script)", () => mine.register("t\u00f6ken"), line],
  ["register(nothing)", () => mine.register(""), line],
  ["register(a long one)", () => mine.register("t".repeat(4097)), line],
  ["register(over http)", () => open.register("token"), "Tokens are sent over https only; use the collector's https URL."],
  // Ratings: no sentence has the item or the value.
  ["rate(item)", () => mine.rate(world.itemAt(task, 0), "4"), `Expected a task, got string; ${returned}`],
  ["rate(unknown id)", () => mine.rate(task, "no such film", "4"), "This item is not in the task's catalogue."],
  ["rate(no item)", () => mine.rate(task, undefined, "4"), "This item is not in the task's catalogue."],
  ["rate(off the scale)", () => mine.rate(task, world.itemAt(task, 0), 6), "This rating is not on the scale 1:5:1."],
  ["rate(no rating)", () => mine.rate(task, world.itemAt(task, 0)), "This rating is not on the scale 1:5:1."],
  ["rate(true)", () => mine.rate(task, world.itemAt(task, 0), true), "This rating is not on the scale 1:5:1."],
  ["copyRatings(address)", () => mine.copyRatings(task, task.address), `Expected a task, got string; ${returned}`],
  ["copyRatings(task, task)", () => mine.copyRatings(task, task), "The ratings to copy must be of an earlier task."],
  ["history()", () => mine.history(), `Expected a task, got undefined; ${returned}`],
  ["referenceCode(address)", () => mine.referenceCode(task.address), `Expected a task, got string; ${returned}`],
  ["countDue(item)", () => mine.countDue(world.itemAt(task, 0)), `Expected a task, got string; ${returned}`],
  ["nats(1)", () => any.nats(1), "Expected an amount of nano-epsilon, got 1; write it as a bigint, as in 1n."],
  // Models and recommendations.
  ["recommend(n)", () => mine.recommend(5), `Expected a task, got 5; ${returned}`],
  ["recommend(task, 2.5)", () => mine.recommend(task, 2.5), "n must be an integer of at least 0, got 2.5."],
  ["recommend(task, '5')", () => mine.recommend(task, "5"), "n must be an integer of at least 0, got string."],
  ["recommend(function)", () => any.recommend(task, items, [], 5), "Expected the user's ratings, got Array; pass levels of client.history(task)."],
  ["recommend(promise of a model)", () => any.recommend(task, Promise.resolve(items), levels, 5), `Expected an item model, got Promise without draws; ${loaded}, and a list model to ListProfile.`],
  ["recommend(address)", () => any.recommend(task, "model", levels, 5), `Expected a model, got string; ${loaded}.`],
  ["Profile(list model)", () => new any.Profile(lists, new Map()), `Expected an item model, got Object without draws; ${loaded}, and a list model to ListProfile.`],
  ["ListProfile(item model)", () => new any.ListProfile(items, []), `Expected a list model, got Object without popularity; ${loaded}, and an item model to Profile.`],
  ["Profile(null)", () => new any.Profile(null, new Map()), `Expected an item model, got null; ${loaded}, and a list model to ListProfile.`],
  ["Profile(object)", () => new any.Profile(items, { 7: 5 }), "Expected a Map of ratings by item id, got Object; write new Map([[7, 5]])."],
  ["Profile(strings)", () => new any.Profile(items, new Map([[items.items[0], "3"]])), `A rating is not on the model's scale ${items.scale.text}.`],
  ["Profile(foreign ids)", () => new any.Profile(items, new Map(FOREIGN.map((item) => [item, 3]))), `None of the 2 items in the profile is in the model; use the ids of the model's catalogue.`],
  ["ListProfile(string)", () => new any.ListProfile(lists, "123"), "Expected a list of item ids; pass an array, as in [7, 12]."],
  ["ListProfile(one id)", () => new any.ListProfile(lists, 7), "Expected a list of item ids; pass an array, as in [7, 12]."],
  ["ListProfile(null)", () => new any.ListProfile(lists, null), "Expected a list of item ids; pass an array, as in [7, 12]."],
  ["ListProfile(foreign ids)", () => new any.ListProfile(lists, FOREIGN), `None of the 2 items in the profile is in the model; use the ids of the model's catalogue.`],
  ["profile.recommend(-1)", () => profile.recommend(-1), "n must be an integer of at least 0, got -1."],
  ["profile.recommend(by stars)", () => profile.recommend(5, "stars"), "rankBy must be gain or rating, got stars."],
  ["listProfile.recommend(1.5)", () => listed.recommend(1.5), "n must be an integer of at least 0, got 1.5."],
  // A closed client.
  ["closed.read()", () => closed.read(), is_closed],
  ["closed.rate()", () => closed.rate(task, world.itemAt(task, 0), "4"), is_closed],
  ["closed.copyRatings()", () => closed.copyRatings(task, elsewhere.task), is_closed],
  ["closed.accept()", () => closed.accept(task, terms), is_closed],
  ["closed.sync()", () => closed.sync(), is_closed],
  ["closed.resend()", () => closed.resend(), is_closed],
  ["closed.recommend()", () => closed.recommend(task), is_closed],
  ["closed.erase()", () => closed.erase(), is_closed],
  ["closed.export()", () => closed.export(), is_closed],
];

for (const [call, work, sentence] of CALLS) {
  test(`${call} throws its sentence`, async () => {
    const error = await Promise.resolve().then(work).then(
      () => assert.fail("the call was answered"),
      (/** @type {unknown} */ thrown) => thrown,
    );
    assert(error instanceof device.TacitError, String(error));
    assert.equal(error.message, sentence);
    assert.deepEqual(await store.read(), rows);
    assert.equal(shop.posts.length, 0);
  });
}

test("a task of another question keeps its own ratings", async () => {
  assert.equal(await client.updateTask(other.task), false);
  assert.equal((await client.history(other.task)).levels.size, 0);
});

test("ids are matched as strings", () => {
  const [first = ""] = items.items;
  const rated = (/** @type {string | number} */ id) => new device.Profile(items, new Map([[id, 3]]));
  assert.equal(typeof first, "number");
  assert.deepEqual(rated(String(first)).rows, rated(first).rows);
  assert.equal(rated(first).predict(String(first)), rated(first).predict(first));
  const [own = ""] = lists.items;
  const scores = (/** @type {string | number} */ id) => new device.ListProfile(lists, [id]).scores;
  assert.deepEqual(scores(String(own)), scores(own));
});
