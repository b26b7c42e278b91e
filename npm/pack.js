/**
 * Packs the page's device as a package for npm: `node npm/pack.js INTO`.
 *
 * Modules go in without their comments, which go into the type declarations, where editors look. npm
 * and the compiler are those of this repository; nothing is fetched, and nothing published.
 */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const HERE = import.meta.dirname;
const ROOT = dirname(HERE);
const NPM = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const COMPILER = join(ROOT, "tests/page/node_modules/typescript/bin/tsc");
const COMMENT = /\/\*.*?\*\//gs;
const IMPORTED = /"(\.[^"]+)\.js"/g;

/** @param {string[]} command of Node */
function run(...command) {
  execFileSync(process.execPath, command, { stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * All that the package is, in a folder.
 * @param {string} folder
 */
function fill(folder) {
  const compile = [COMPILER, "--project", HERE, "--outDir", folder];
  run(...compile, "--removeComments");
  run(...compile, "--declaration", "--emitDeclarationOnly");
  const said = reached(folder, "index.d.ts");
  for (const name of globSync("**/*.d.ts", { cwd: folder }))
    if (!said.has(name)) rmSync(join(folder, name));
  for (const name of ["package.json", "README.md"]) cpSync(join(HERE, name), join(folder, name));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * A declaration and those that it needs; whoever uses the package never meets the others.
 * @param {string} folder
 * @param {string} name
 * @param {Set<string>} [known]
 */
function reached(folder, name, known = new Set()) {
  if (known.has(name)) return known;
  known.add(name);
  const text = readFileSync(join(folder, name), "utf8").replace(COMMENT, "");
  for (const [, path = ""] of text.matchAll(IMPORTED))
    reached(folder, join(dirname(name), `${path}.d.ts`), known);
  return known;
}

const into = process.argv[2];
if (into === undefined) throw new Error("Say where the package is to go: node npm/pack.js INTO.");
const folder = mkdtempSync(join(tmpdir(), "tacit-device-"));
try {
  fill(folder);
  mkdirSync(into, { recursive: true });
  run(NPM, "pack", folder, "--silent", "--ignore-scripts", "--pack-destination", resolve(into));
} finally {
  rmSync(folder, { recursive: true });
}
