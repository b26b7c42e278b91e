/**
 * The report: the data that leave a device. Hashes and small integers. No float, rating or time.
 */

export const MOST_REPORTS = 200;
const [SCHEMA, BLOCK_SCHEMA] = [1, 2]; // of a report on items of a task, and on a block
/** The maximum size of one upload in bytes. */
export const LONGEST_UPLOAD = 1 << 18;

/**
 * `id` and `person`: 32 hexadecimal digits. `mech`: the channel's id. `symbols[k]` is the column of
 * the channel's table drawn for index `places[k]`. `key`: the block key of a report on a block, null
 * for others.
 * @typedef {{ readonly id: string, readonly mech: string, readonly epoch: number,
 *   readonly person: string, readonly places: readonly number[],
 *   readonly symbols: readonly number[], readonly key: string | null }} Report
 */

/**
 * Serialize a report as ASCII. The length is the same for every answer, because symbols are padded.
 * @param {Report} report
 * @param {import("./channel.js").Channel} channel
 * @returns {string}
 */
export function dumps({ id, mech, epoch, person, places, symbols, key }, channel) {
  const width = String(channel.outputs.length - 1).length;
  const cells = places.map((place, k) => `[${place},${String(symbols[k]).padStart(width)}]`);
  const [schema, shown] = key === null ? [SCHEMA, ""] : [BLOCK_SCHEMA, `"key":"${key}",`];
  return (
    `{"id":"${id}","mech":"${mech}","schema":${schema},"epoch":${epoch},` +
    `"person":"${person}",${shown}"cells":[${cells.join()}]}`
  );
}

/**
 * Return the body of a request that sends these reports, 1 to `MOST_REPORTS` of one task.
 * @param {readonly string[]} reports
 * @returns {string}
 */
export function upload(reports) {
  return `{"reports":[${reports.join()}]}`;
}
