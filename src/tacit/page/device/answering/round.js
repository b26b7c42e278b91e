/** One round of answers: all that is due in an epoch, as one change to commit. */

import { Answers } from "./answers.js";
import { drawBlock, dueBlocks, isGrowing, reserve } from "./blocks.js";
import { dueRated, dueSlots, madeIn, historyOf } from "./due.js";
import { generation } from "../documents/catalogue.js";
import { key } from "../documents/hashing.js";
import { blockReportId, person, reportId } from "./pseudonym.js";
import { dumps } from "../documents/report.js";
import { asked } from "./schedule.js";

/** @typedef {import("../documents/channel.js").Channel} Channel */
/** @typedef {import("./due.js").Cell} Cell */
/** @typedef {import("../store.js").Outgoing} Outgoing */
/** @typedef {import("../documents/task.js").Task} Task */
/** Inputs of a report's names.
 * @typedef {{ readonly secret: CryptoKey, readonly named: import("./pseudonym.js").Named,
 *   readonly me: string, readonly epoch: number }} Signed */

/**
 * Compute a round. Nothing is written and nothing is sent: the caller commits the debit, the
 * answers and the reports' bytes together. `refusals`: one per rating that gets no answer because
 * of the lifetime limit.
 * @param {import("../store.js").Owner} owner
 * @param {import("../store.js").Rows} rows
 * @param {Task} task verified
 * @param {Channel} channel of the task
 * @param {number} epoch
 * @param {import("./draw.js").Words} words
 * @returns {Promise<{ change: import("../store.js").Change,
 *   refusals: import("../errors.js").BudgetError[] }>}
 */
export async function round(owner, rows, task, channel, epoch, words) {
  const secret = await key(owner.secret);
  const named = namedFor(rows, task);
  const me = await person(secret, named.named, named.provider);
  const signed = { secret, named, me, epoch };
  const ledger = { limit: owner.limit, spent: rows.ledger[0]?.spent ?? 0n };
  if (isGrowing(task)) {
    return { change: await blockRound(rows, task, channel, signed, ledger, words), refusals: [] };
  }
  const answers = new Answers(task.question, channel, rows.answers, ledger, words);
  const made = madeIn(rows, task, epoch);
  const through = rows.reported.filter((one) => one.channel === channel.id);
  const known = task.hidesPresence ? { ...rows, reported: through } : rows;
  const past = historyOf(known, task.question);
  const reports = task.hidesPresence
    ? dueSlots(past, answers, made, await asked(task, me))
    : dueRated(past, answers, made);
  const outbox = await Promise.all(
    reports.map((cells) => outgoing(task, channel, cells, signed, null)),
  );
  const reported = reports
    .flat()
    .map(({ place, value }) => ({ task: task.question, place, value, channel: channel.id, epoch }));
  const put = { ledger: [spentOf(answers.ledger)], answers: answers.drawn, reported, outbox };
  const remove = { reported: task.hidesPresence ? [] : untold(rows, outbox) };
  const names = reports.length > 0 ? [{ task: task.question, ...named }] : [];
  const change = { put: { ...put, made: outbox.map(slotOf), names }, remove };
  return { change, refusals: answers.refusals };
}

/**
 * Compute a round of a task that is answered block by block: a report for each block whose time has
 * come. Throws `BudgetError` if the lifetime limit does not allow the limit of the task.
 * @param {import("../store.js").Rows} rows
 * @param {import("./blocks.js").GrowingTask} task
 * @param {Channel} channel
 * @param {Signed} signed
 * @param {import("./ledger.js").Ledger} ledger
 * @param {import("./draw.js").Words} words
 * @returns {Promise<import("../store.js").Change>}
 */
async function blockRound(rows, task, channel, signed, ledger, words) {
  const { question } = task;
  const { epoch } = signed;
  const spent = spentOf(reserve(task, channel, rows, ledger));
  const { levels, last } = historyOf(rows, question);
  /** @type {import("../store.js").BlockAnswer[]} */
  const drawn = [];
  /** @type {Outgoing[]} */
  const outbox = [];
  for (const block of await dueBlocks(task, signed.secret, rows, epoch)) {
    const cells = drawBlock(task, channel, block, levels, epoch, words);
    outbox.push(await outgoing(task, channel, cells, signed, block));
    drawn.push(...cells);
  }
  // After the clock was set back, an answer of an earlier generation is not the last one.
  const latest = drawn.filter(({ place }) => (last.get(place)?.epoch ?? epoch) <= epoch);
  const reported = latest.map(({ task, place, value }) => {
    return { task, place, value, channel: channel.id, epoch };
  });
  const names = outbox.length > 0 ? [{ task: question, ...signed.named }] : [];
  const chains = [{ task: question, channel: channel.id }];
  const answers = { chains, blocks: drawn, reported, names };
  return { put: { ledger: [spent], ...answers, outbox, made: outbox.map(slotOf) } };
}

/**
 * Return the pseudonym inputs of a question. Reports keep their pseudonym in whichever format the
 * question is asked: a change of format causes no second draw. Reports of older pages have
 * pseudonyms without a provider.
 * @param {import("../store.js").Rows} rows
 * @param {Task} task
 * @returns {import("./pseudonym.js").Named}
 */
function namedFor({ names, made, answers }, { question, root, provider }) {
  const kept = names.find(({ task }) => task === question);
  if (kept !== undefined) return { named: kept.named, provider: kept.provider };
  const before = [...made, ...answers].some(({ task }) => task === question);
  return before ? { named: question, provider: null } : { named: root, provider };
}

/**
 * Return the code by which a user's reports to a task are found, to be quoted to the provider: the
 * pseudonym in four groups of digits. It is in every report, and erases nothing without the provider.
 * @param {import("../store.js").Owner} owner
 * @param {import("../store.js").Rows} rows
 * @param {Task} task
 * @returns {Promise<string>}
 */
export async function referenceCode(owner, rows, task) {
  const { named, provider } = namedFor(rows, task);
  const me = await person(await key(owner.secret), named, provider);
  return (me.match(/.{8}/g) ?? []).join("-");
}

/**
 * Return the superseded rows: under "rated" an item has one last reported value, not one per
 * channel.
 * @param {import("../store.js").Rows} rows
 * @param {readonly Outgoing[]} outbox
 */
function untold({ reported }, outbox) {
  const places = new Set(outbox.map(({ place }) => place));
  return reported.filter(({ task, place }) => task === outbox[0]?.task && places.has(place));
}

/** @param {Outgoing} row */
function slotOf({ task, epoch, place }) {
  return { task, epoch, place };
}

/** @param {import("./ledger.js").Ledger} ledger */
function spentOf({ spent }) {
  return { self: /** @type {const} */ ("lifetime"), spent };
}

/**
 * @param {Task} task
 * @param {Channel} channel
 * @param {readonly Cell[]} cells
 * @param {Signed} signed
 * @param {import("./blocks.js").QueriedBlock | null} block whose cells they are, if it is one
 * @returns {Promise<Outgoing>}
 */
async function outgoing(task, channel, cells, signed, block) {
  const places = cells.map((cell) => cell.place);
  const symbols = cells.map((cell) => cell.symbol);
  const place = places[0] ?? 0;
  const single = !task.hidesPresence;
  const { me: person, epoch } = signed;
  const id = await (block === null
    ? slotId(signed, single ? place : null)
    : blockId(task, signed, block));
  const key = block?.key ?? null;
  const bytes = dumps({ id, mech: channel.id, epoch, person, places, symbols, key }, channel);
  const until = task.start + (epoch + task.window + 1) * task.epochSeconds;
  const { question, address } = task;
  return { task: question, address, epoch, place, id, bytes, single, until };
}

/**
 * @param {Signed} signed
 * @param {number | null} place
 */
function slotId({ secret, named: { named, provider }, epoch }, place) {
  return reportId(secret, named, epoch, place, provider);
}

/**
 * @param {Task} task
 * @param {Signed} signed
 * @param {import("./blocks.js").QueriedBlock} block
 */
function blockId({ growth, provider }, { secret, named, epoch }, { address }) {
  const now = growth === null ? 0 : generation(growth, epoch);
  return blockReportId(secret, provider ?? "", named.named, address, now);
}
