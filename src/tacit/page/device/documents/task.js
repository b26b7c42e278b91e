/**
 * The task: the question of a provider, its channels, its schedule, and its retention period.
 *
 * Immutable, and addressed by the SHA-256 of its bytes: a device that has the address cannot be
 * shown a catalogue, title or table that differs from that of other devices.
 *
 * A task that extends another is written as the documents of its ancestors and of the extension, one
 * per line. Each extension contains the address of the line before it, so the address of the last
 * line authenticates all of them. An extension contains new items alone, and under a plan over slots
 * the terms of their block. An item keeps its index. A line can also be a move of the provider to
 * another origin (`sending/moves.js`).
 */

import {
  extended,
  extensionOf,
  flaws as growthFlaws,
  growthOf,
  itemId,
  MOST_EXTENSIONS,
  MOST_ITEMS,
  titlesOf,
} from "./catalogue.js";
import { ofJson } from "./channel.js";
import { compare, decimal, shortest } from "./decimals.js";
import { CertificateError, DataError, RequestError } from "../errors.js";
import { address as addressOf } from "./hashing.js";
import { isOrigin } from "./origin.js";
import { isMove, isProviderKey, successorOf } from "../sending/moves.js";
import * as ratingScale from "./scale.js";
import { decoded, fieldsInOrder, integer, listed, parseCanonical, text, typed } from "./strict.js";

/** @typedef {import("./channel.js").Channel} Channel */

/**
 * `items` and `titles` are by index. `slots`: K of "sample:K", else null. `hidesPresence`: whether
 * the set of rated items is hidden too. `start` in Unix seconds. `provider`: the origin that asks,
 * null in a tacit-task-1. `question`: the address of the question, independent of the provider:
 * that of the tacit-task-1 that differs in format and provider alone. `uncovered`: the parts that
 * were inferred from ratings and not declared, a subset of `PARTS` in its order. No guarantee
 * covers what they reveal about those ratings. `root`: the address of the first task, under which
 * pseudonyms are made. `ancestors`: the addresses of all tasks that this one continues, the latest
 * last. `chain`: the addresses of the first task and of its extensions up to this one. `growth`: the
 * blocks of a task over slots that can be extended, null for all other tasks. `providerKey`: public
 * key that verifies moves of the provider to other origins, null for one that cannot move.
 * `origins`: those that reports were and are sent to, the present one last; none in a tacit-task-1.
 * @typedef {object} Task
 * @property {string} address
 * @property {string} question
 * @property {string} root
 * @property {readonly string[]} ancestors
 * @property {readonly string[]} chain
 * @property {string | null} provider
 * @property {string} name
 * @property {import("./scale.js").Scale} scale
 * @property {string} plan
 * @property {number | null} slots
 * @property {boolean} hidesPresence
 * @property {readonly (string | number)[]} items
 * @property {readonly string[] | null} titles
 * @property {readonly Channel[]} channels
 * @property {number} start
 * @property {number} epochSeconds
 * @property {number} window
 * @property {number} retentionDays
 * @property {readonly string[]} uncovered
 * @property {import("./catalogue.js").Growth | null} growth
 * @property {string | null} providerKey
 * @property {readonly string[]} origins
 */

const [FIRST, SECOND, THIRD, FOURTH] = [1, 2, 3, 4].map((each) => `tacit-task-${each}`);
const KEYS = [
  "format",
  "name",
  "provider",
  "scale",
  "plan",
  "items",
  "titles",
  "channels",
  "start",
  "epoch_seconds",
  "window",
  "retention_days",
];
const EXTENDABLE = "extendable"; // of the third format, before `UNCOVERED`
const PROVIDER_KEY = "provider_key"; // of the fourth format, there
const UNCOVERED = "uncovered"; // the last key, or left out
const PARTS = ["the catalogue", "the set of people", "the rating scale"];
const WHAT = "The task";
const LONGEST = 1 << 24;
const [MOST_CELLS, MOST_CHANNELS] = [4096, 16];
const DAY = 86_400;
const LINE_FEED = 10;

/**
 * Parse a task and verify every channel. None of its claims about itself are trusted.
 *
 * Throws `CertificateError` if it is not the task of `address` or a channel does not hold, and
 * `DataError` if it is malformed or not in its only spelling.
 * @param {import("./hashing.js").Bytes} document
 * @param {string} address
 * @returns {Promise<Task>}
 */
export async function loads(document, address) {
  const [line = document, ...extensions] = linesOf(document);
  if ((await addressOf(extensions.at(-1) ?? line)) !== address) {
    const short = address.slice(0, 64);
    throw new CertificateError(
      `The task does not match its address ${short}: it was changed in transit.`,
    );
  }
  if (document.length > LONGEST)
    throw new DataError(`A task of ${document.length} bytes is too long.`);
  const first = await firstTask(line);
  return extensions.length === 0 ? first : withExtensions(first, extensions);
}

/**
 * @param {import("./hashing.js").Bytes} document of one line
 * @returns {Promise<Task>}
 */
async function firstTask(document) {
  const address = await addressOf(document);
  const known = formed(parseCanonical(decoded(document, WHAT), WHAT));
  const plan = typed(known, "plan", "string", WHAT);
  const provider = "provider" in known ? typed(known, "provider", "string", WHAT) : null;
  const question = provider === null ? address : await predecessor(known);
  const items = listed(known["items"], "items", itemId, WHAT, MOST_ITEMS);
  const task = {
    ...{ address, question, root: address, chain: [address], items },
    ancestors: provider === null ? [] : [question],
    name: typed(known, "name", "string", WHAT),
    provider,
    scale: ratingScale.parse(typed(known, "scale", "string", WHAT)),
    plan,
    slots: Number(/^sample:([1-9][0-9]{0,3})$/.exec(plan)?.[1] ?? 0) || null,
    hidesPresence: plan !== "rated",
    titles: titlesOf(known["titles"], WHAT),
    channels: await Promise.all(
      listed(known["channels"], "channels", (entry) => entry, WHAT, MOST_CHANNELS).map(ofJson),
    ),
    start: integer(known, "start", WHAT),
    epochSeconds: integer(known, "epoch_seconds", WHAT),
    window: integer(known, "window", WHAT),
    retentionDays: integer(known, "retention_days", WHAT),
    uncovered: uncoveredOf(known),
    growth: EXTENDABLE in known ? growthOf(known[EXTENDABLE], items.length) : null,
    providerKey: providerKeyOf(known),
    origins: provider === null ? [] : [provider],
  };
  return sound(task, flaws(task));
}

/**
 * Return the task of all lines, of which each extends or moves the one before.
 * @param {Task} first
 * @param {readonly import("./hashing.js").Bytes[]} lines
 * @returns {Promise<Task>}
 */
async function withExtensions(first, lines) {
  let address = first.address;
  let growth = first.growth;
  const ancestors = [...first.ancestors];
  const chain = [...first.chain];
  const items = [...first.items];
  const titles = first.titles === null ? null : [...first.titles];
  const origins = [...first.origins];
  for (const line of lines) {
    const text = decoded(line, WHAT);
    if (isMove(text)) {
      origins.push(await successorOf(text, address, first.providerKey));
      ancestors.push(address);
      address = await addressOf(line);
      continue;
    }
    const added = extensionOf(text, address, growth !== null);
    if ((added.titles === null) !== (titles === null)) {
      throw new DataError("The task is malformed: it must have titles of all items, or of none.");
    }
    for (const one of added.items) items.push(one);
    for (const one of added.titles ?? []) titles?.push(one);
    if (growth !== null && added.terms !== null) {
      growth = extended(growth, items.length, added.terms.threshold, added.terms.openFrom);
    }
    ancestors.push(address);
    address = await addressOf(line);
    chain.push(address);
  }
  const task = { ...first, address, ancestors, chain, items, titles, growth, origins };
  return sound(task, [
    [
      task.hidesPresence && growth === null && chain.length > 1,
      "only a task of the plan rated, or one over slots written as extendable, can be extended",
    ],
    [task.provider === null, "a task that names no provider cannot be extended; write a new one"],
    [
      lines.length > MOST_EXTENSIONS,
      `it must have at most ${MOST_EXTENSIONS} extensions and moves`,
    ],
    [
      origins.some((each, k) => each === origins[k - 1]),
      "a move must be to another origin than the present one",
    ],
    ...flaws(task),
  ]);
}

/**
 * @param {Task} task
 * @param {[boolean, string][]} checks
 */
function sound(task, checks) {
  const wrong = checks.find(([found]) => found);
  if (wrong) throw new DataError(`The task is malformed: ${wrong[1]}.`);
  return task;
}

/**
 * Return the lines of a document, at most two more than a task may have.
 * @param {import("./hashing.js").Bytes} document
 */
function linesOf(document) {
  const lines = [];
  let start = 0;
  while (lines.length <= MOST_EXTENSIONS) {
    const end = document.indexOf(LINE_FEED, start);
    if (end < 0) break;
    lines.push(document.slice(start, end));
    start = end + 1;
  }
  return [...lines, document.slice(start)];
}

/**
 * Return the epoch of a moment in Unix seconds. Below 0 before the task begins.
 * @param {Pick<Task, "start" | "epochSeconds">} task
 * @param {number} now
 * @returns {number}
 */
export function epoch({ start, epochSeconds }, now) {
  return Math.floor((now - start) / epochSeconds);
}

/**
 * Return the first moment of an epoch, Unix seconds.
 * @param {Pick<Task, "start" | "epochSeconds">} task
 * @param {number} epoch
 */
export function begins({ start, epochSeconds }, epoch) {
  return start + epoch * epochSeconds;
}

/**
 * Choose the channel to answer through: the one with the largest epsilon not above the user's own
 * maximum (nats per rating, a plain decimal). Ties go to the first. The choice is independent of
 * the ratings.
 *
 * Throws `CertificateError` if the task offers none, before anything is drawn, and `RequestError`
 * for an invalid decimal.
 * @param {Pick<Task, "channels" | "hidesPresence">} task
 * @param {string} mostEpsilon
 * @returns {Channel}
 */
export function choose({ channels, hidesPresence }, mostEpsilon) {
  const most = decimal(mostEpsilon);
  if (most === undefined)
    throw new RequestError(`Epsilon '${mostEpsilon}' is not a plain decimal such as 0.5.`);
  const ranked = [...channels].sort((a, b) => compare(epsilonOf(b), epsilonOf(a)));
  const chosen = ranked.find((channel) => compare(epsilonOf(channel), most) <= 0);
  if (chosen !== undefined) return chosen;
  const unit = hidesPresence ? "slot" : "value";
  throw new CertificateError(
    `This task requires epsilon = ${ranked.at(-1)?.epsilon} or more per ${unit}, above your ` +
      `maximum of ${mostEpsilon}, so the device sends nothing.`,
  );
}

/**
 * @param {Task} task
 * @returns {[boolean, string][]}
 */
function flaws({ name, plan, slots, items, titles, channels, scale, hidesPresence, ...rest }) {
  const n = items.length;
  const cells = rest.growth?.limit ?? (hidesPresence ? Math.min(slots ?? n, n) : 1);
  return [
    [
      rest.growth !== null && (!hidesPresence || rest.provider === null),
      "a task that can be extended block by block must have a plan over slots and a provider",
    ],
    ...(rest.growth === null ? [] : growthFlaws(rest.growth, slots)),
    [
      name.length > 400 || !within([...name].length, 1, 200),
      "its name must have 1 to 200 characters",
    ],
    [
      rest.provider !== null && !isOrigin(rest.provider),
      `the provider must be an origin, got '${rest.provider?.slice(0, 60)}'`,
    ],
    [
      rest.providerKey !== null && (rest.provider === null || !isProviderKey(rest.providerKey)),
      "a provider_key must be an odd modulus of 3072 bits in base64url, and requires a provider",
    ],
    [
      hidesPresence && plan !== "catalogue" && slots === null,
      `the plan must be rated, catalogue or sample:K, got '${plan.slice(0, 40)}'`,
    ],
    [
      ratingScale.hasOneLevel(scale) && !hidesPresence,
      "for implicit feedback, the plan rated would protect nothing",
    ],
    [!within(n, 1, MOST_ITEMS), `the catalogue must have 1 to ${MOST_ITEMS} items, got ${n}`],
    [new Set(items.map(String)).size !== n, "an item id occurs twice"],
    [
      new Set(items.map((one) => typeof one)).size > 1,
      "item ids must be all numbers or all strings",
    ],
    [titles !== null && titles.length !== n, "it must have one title per item"],
    [cells > MOST_CELLS, `a report must have at most ${MOST_CELLS} cells, got ${cells}`],
    [!within(channels.length, 1, MOST_CHANNELS), `it must have 1 to ${MOST_CHANNELS} channels`],
    [new Set(channels.map(({ id }) => id)).size !== channels.length, "a channel occurs twice"],
    [
      channels.some((channel) => shortest(epsilonOf(channel)) !== channel.epsilon),
      "a channel's epsilon is not in its shortest decimal form",
    ],
    [channels.some((channel) => channel.scale !== scale.text), "the levels of a channel differ from those of the scale"],
    [
      channels.some(({ missing }) => missing !== hidesPresence),
      "the plans catalogue and sample:K require channels with missing, and the plan rated " +
        "requires channels without it",
    ],
    [
      !within(rest.epochSeconds, 1, 366 * DAY),
      `an epoch must last 1 s to 366 days, got ${rest.epochSeconds} s`,
    ],
    [!within(rest.window, 0, 1000), `the window must be 0 to 1000 epochs, got ${rest.window}`],
    [
      rest.retentionDays * DAY < rest.window * rest.epochSeconds,
      `a retention of ${rest.retentionDays} days is shorter than the window for late reports`,
    ],
  ];
}

/**
 * Return the fields of a task, with the keys of its format.
 * @param {unknown} value
 */
function formed(value) {
  const object = typeof value === "object" && value !== null ? value : {};
  const format = "format" in object ? object.format : null;
  if (![FIRST, SECOND, THIRD, FOURTH].some((each) => each === format))
    throw new DataError(`The task's format is none of ${FIRST} to ${FOURTH}.`);
  const keys = format === FIRST ? KEYS.filter((key) => key !== "provider") : KEYS;
  const uncovered = Object.hasOwn(object, UNCOVERED) ? [UNCOVERED] : [];
  const terms = format === THIRD ? [EXTENDABLE] : format === FOURTH ? [PROVIDER_KEY] : [];
  return fieldsInOrder(value, WHAT, [...keys, ...terms, ...uncovered]);
}

/**
 * Return the address of the tacit-task-1 with the same question.
 * @param {import("./strict.js").Fields} known
 */
function predecessor({ provider: _, ...rest }) {
  return addressOf(JSON.stringify({ ...rest, format: FIRST }));
}

/** @param {Channel} channel */
function epsilonOf(channel) {
  const value = decimal(channel.epsilon);
  if (value === undefined) throw new DataError("A channel's epsilon is not a plain decimal.");
  return value;
}

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
function within(value, least, most) {
  return value >= least && value <= most;
}

/** @param {import("./strict.js").Fields} known */
function uncoveredOf(known) {
  if (!Object.hasOwn(known, UNCOVERED)) return [];
  const parts = listed(known[UNCOVERED], UNCOVERED, text, WHAT, PARTS.length);
  const inOrder = PARTS.filter((part) => parts.includes(part));
  if (parts.length > 0 && parts.join("\n") === inOrder.join("\n")) return parts;
  throw new DataError(
    `${WHAT}'s uncovered must list some of ${PARTS.join(", ")}, in this order and each once.`,
  );
}

/**
 * Return the key of the provider, which is among the terms of a tacit-task-3 or null there.
 * @param {import("./strict.js").Fields} known with verified terms
 */
function providerKeyOf(known) {
  if (PROVIDER_KEY in known) return typed(known, PROVIDER_KEY, "string", WHAT);
  return EXTENDABLE in known ? Object(known[EXTENDABLE])[PROVIDER_KEY] : null;
}
