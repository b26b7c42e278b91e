/**
 * Packs the consent element of the page as a package for npm: `node npm/consent/pack.js INTO`.
 *
 * The element is one module, with what it needs of the device. npm and the bundler are those of this
 * repository. Nothing is fetched or published.
 */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const HERE = import.meta.dirname;
const ROOT = dirname(dirname(HERE));
const NPM = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const BUNDLER = join(ROOT, "tests/page/node_modules/esbuild/bin/esbuild");
const ELEMENT = join(ROOT, "src/tacit/page/view/consent/element.js");

/** @param {string[]} command of Node */
function run(...command) {
  execFileSync(process.execPath, command, { stdio: ["ignore", "ignore", "inherit"] });
}

const into = process.argv[2];
if (into === undefined) throw new Error("The folder is missing; run node npm/consent/pack.js INTO.");
const folder = mkdtempSync(join(tmpdir(), "tacit-consent-"));
try {
  run(BUNDLER, ELEMENT, "--bundle", "--format=esm", `--outfile=${join(folder, "index.js")}`, "--log-level=warning");
  for (const name of ["package.json", "README.md", "index.d.ts"]) cpSync(join(HERE, name), join(folder, name));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  mkdirSync(into, { recursive: true });
  run(NPM, "pack", folder, "--silent", "--ignore-scripts", "--pack-destination", resolve(into));
} finally {
  rmSync(folder, { recursive: true });
}
