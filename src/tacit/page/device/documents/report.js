/**
 * The report: the data that leave a device. Hashes and small integers. No float, rating or time.
 */

export const MOST_REPORTS = 200;
/** The maximum size of one upload in bytes. */
export const LONGEST_UPLOAD = 1 << 18;

/**
 * `id` and `person`: 32 hexadecimal digits. `mech`: the channel's id. `symbols[k]` is the column of
 * the channel's table drawn for index `places[k]`.
 * @typedef {{ readonly id: string, readonly mech: string, readonly epoch: number,
 *   readonly person: string, readonly places: readonly number[],
 *   readonly symbols: readonly number[] }} Report
 */

/**
 * Serialize a report as ASCII. The length is the same for every answer, because symbols are padded.
 * @param {Report} report
 * @param {import("./channel.js").Channel} channel
 * @returns {string}
 */
export function dumps({ id, mech, epoch, person, places, symbols }, channel) {
  const width = String(channel.outputs.length - 1).length;
  const cells = places.map((place, k) => `[${place},${String(symbols[k]).padStart(width)}]`);
  return (
    `{"id":"${id}","mech":"${mech}","schema":1,"epoch":${epoch},` +
    `"person":"${person}","cells":[${cells.join()}]}`
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
