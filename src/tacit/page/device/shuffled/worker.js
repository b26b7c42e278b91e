/** Worker of `background.js`: answers one request. */

import { sentence } from "../errors.js";
import { DIRECT, KINDS } from "./background.js";

/** @typedef {import("./background.js").Request} Request */

/** @param {Request} request */
async function result([name, given]) {
  try {
    const value = name === "loads" ? DIRECT.loads(...given) : DIRECT.sealedBundle(...given);
    return { value: await value };
  } catch (error) {
    const kind = KINDS.findIndex((one) => error instanceof one);
    return { kind, message: sentence(error) };
  }
}

globalThis.onmessage = async (/** @type {MessageEvent<Request>} */ { data }) => {
  globalThis.postMessage(await result(data));
};
