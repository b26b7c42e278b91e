/**
 * Packs the page's device as a package for npm: `node npm/pack.js INTO`.
 *
 * Shuffled tasks are left out. Comments are left out of the modules, and of the declarations of modules that the index does not
 * export: editors show those of exported declarations. npm and the compiler are those of this
 * repository. Nothing is fetched or published.
 */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
 * Write all files of the package to a folder.
 * @param {string} folder
 */
function fill(folder) {
  const compile = [COMPILER, "--project", HERE, "--outDir", folder];
  run(...compile, "--removeComments");
  run(...compile, "--declaration", "--emitDeclarationOnly");
  rmSync(join(folder, "shuffled"), { recursive: true });
  const index = "index.d.ts";
  const [needed, exported] = [reached(folder, index), new Set(imported(folder, index))];
  for (const name of globSync("**/*.d.ts", { cwd: folder })) {
    const path = join(folder, name);
    if (!needed.has(name)) rmSync(path);
    else if (name !== index && !exported.has(name)) writeFileSync(path, uncommented(path));
  }
  for (const name of ["package.json", "README.md"]) cpSync(join(HERE, name), join(folder, name));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * Return the names of a declaration file and of all that it imports, directly or not.
 * @param {string} folder
 * @param {string} name
 * @param {Set<string>} [known]
 */
function reached(folder, name, known = new Set()) {
  if (known.has(name)) return known;
  known.add(name);
  for (const other of imported(folder, name)) reached(folder, other, known);
  return known;
}

/**
 * Return the names of the declaration files that one imports itself.
 * @param {string} folder
 * @param {string} name
 */
function imported(folder, name) {
  const paths = uncommented(join(folder, name)).matchAll(IMPORTED);
  return [...paths].map(([, path = ""]) => join(dirname(name), `${path}.d.ts`));
}

/** @param {string} path */
function uncommented(path) {
  return readFileSync(path, "utf8").replace(COMMENT, "");
}

const into = process.argv[2];
if (into === undefined) throw new Error("The folder is missing; run node npm/pack.js INTO.");
const folder = mkdtempSync(join(tmpdir(), "tacit-device-"));
try {
  fill(folder);
  mkdirSync(into, { recursive: true });
  run(NPM, "pack", folder, "--silent", "--ignore-scripts", "--pack-destination", resolve(into));
} finally {
  rmSync(folder, { recursive: true });
}
