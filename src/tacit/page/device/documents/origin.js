/**
 * The origin of a provider: scheme, host and port, as in a browser's `location.origin`.
 *
 * Each origin has one spelling, which is checked character by character: devices whose URL parsers
 * disagree would disagree about the provider.
 */

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const ORIGIN = new RegExp(
  "^(https?):" +
    `\\/\\/(?:\\[([0-9a-f:]{2,39})\\]|(${LABEL}(?:\\.${LABEL})*))(?::([1-9][0-9]{0,4}))?$`,
);
const NUMERIC = /^(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)$/;
const FOUR = /^(?:(?:0|[1-9][0-9]{0,2})(?:\.(?!$)|$)){4}$/;
const MAPPED = /^::ffff:[0-9a-f]{1,4}:[0-9a-f]{1,4}$/;
const LONGEST_NAME = 253;
const LONGEST = "https".length + 3 + LONGEST_NAME + ":65535".length;
const HIGHEST_PORT = 65_535;
const HERE = /^(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?$/; // hosts of this machine

/**
 * Return whether the text is an origin of http or https in its one spelling.
 * @param {string} text
 * @returns {boolean}
 */
export function isOrigin(text) {
  const found = text.length <= LONGEST ? ORIGIN.exec(text) : null;
  if (found === null) return false;
  const [, scheme, six, name = "", port] = found;
  const plain = scheme === "https" ? "443" : "80";
  if (port !== undefined && (port === plain || Number(port) > HIGHEST_PORT)) return false;
  return six === undefined ? isName(name) : isSix(six);
}

/**
 * Return whether traffic to this origin is protected: https, or a host on this machine.
 * @param {string} origin
 */
export function isPrivate(origin) {
  const [scheme, host = ""] = origin.split("://");
  return scheme === "https" || HERE.test(host);
}

/** @param {string} six */
function isSix(six) {
  const host = `[${six}]`;
  try {
    return new URL(["http", host].join("://")).hostname === host && !MAPPED.test(six);
  } catch {
    return false;
  }
}

/**
 * Return whether the text is a host name or, where a browser would read its end as a number, an
 * IPv4 address.
 * @param {string} name
 */
function isName(name) {
  if (!NUMERIC.test(name)) return name.length <= LONGEST_NAME;
  return FOUR.test(name) && name.split(".").every((part) => Number(part) <= 255);
}
