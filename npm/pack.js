/**
 * Packs the page's device as packages for npm: `node npm/pack.js INTO`.
 *
 * `tacit-device` contains all modules but those of shuffled tasks, `tacit-device-shuffled` contains
 * these and what they import. Comments and spaces are left out of the modules, and their syntax is
 * shortened; names stay as they are. Comments are left out of the declarations that the index does not
 * export: editors show those of exported declarations and of types, without the types that the
 * declaration has. Indentation and empty lines are left out, too. npm, the compiler and esbuild are
 * those of this repository. Nothing is fetched or published.
 */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const HERE = import.meta.dirname;
const ROOT = dirname(HERE);
const NPM = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const COMPILER = join(ROOT, "tests/page/node_modules/typescript/bin/tsc");
const ESBUILD = join(ROOT, "tests/page/node_modules/esbuild/bin/esbuild");
const COMMENT = /\/\*.*?\*\//gs;
const TAG = /\n *\* @(?:param|returns|template|type)\b[^@]*?(?=\n *\* @|\n? *\*\/)/gs;
const TYPEDEF = /\/\*\*((?:(?!\*\/).)*?)@typedef (.*?)\*\/\n/gs;
const DECLARATION = /\/\*\*(?:(?!\*\/).)*\*\/\n(?=export declare \w+ (\w+))/gs;
const INDENTATION = /\n\s+/g; // and empty lines
const IMPORTED = /"(\.[^"]+)\.js"/g;
const PART = "shuffled";

/** @param {string[]} command of Node */
function run(...command) {
  execFileSync(process.execPath, command, { stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * Write all files of a package to a folder.
 * @param {string} folder
 * @param {string} part the folder of its index, of its `package.json` and of its `README.md`
 */
function fill(folder, part) {
  const compile = [COMPILER, "--project", HERE, "--outDir", folder];
  run(...compile, "--removeComments");
  run(...compile, "--declaration", "--emitDeclarationOnly");
  if (part !== PART) rmSync(join(folder, PART), { recursive: true });
  const [modules, index] = [join(part, "index.js"), join(part, "index.d.ts")];
  const needed = reached(folder, index);
  if (part === PART) for (const name of reached(folder, modules)) needed.add(name);
  const exported = new Set(imported(folder, index));
  const names = new Set(uncommented(join(folder, index)).match(/\w+/g));
  for (const name of globSync("**/*.{js,d.ts}", { cwd: folder })) {
    const path = join(folder, name);
    const isTyped = name.endsWith(".d.ts");
    if (!needed.has(name) && (isTyped || part === PART)) rmSync(path);
    else if (isTyped) {
      const types = name === index || exported.has(name) ? documented(path, names) : uncommented(path);
      writeFileSync(path, types.replace(INDENTATION, "\n"));
    }
  }
  const all = globSync("**/*.js", { cwd: folder }).map((name) => join(folder, name));
  const same = ["--format=esm", "--target=esnext", `--outbase=${folder}`, `--outdir=${folder}`];
  run(ESBUILD, ...all, "--minify-whitespace", "--minify-syntax", "--allow-overwrite", "--log-level=error", ...same);
  for (const name of ["package.json", "README.md"])
    cpSync(join(HERE, part, name), join(folder, name));
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * Return the names of a module or declaration file and of all that it imports, directly or not.
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
 * Return the names of the files of its kind that a module or declaration file imports itself.
 * @param {string} folder
 * @param {string} name
 */
function imported(folder, name) {
  const paths = uncommented(join(folder, name)).matchAll(IMPORTED);
  const kind = name.endsWith(".d.ts") ? "d.ts" : "js";
  return [...paths].map(([, path = ""]) => join(dirname(name), `${path}.${kind}`));
}

/** @param {string} path */
function uncommented(path) {
  return readFileSync(path, "utf8").replace(COMMENT, "");
}

/**
 * @param {string} into
 * @param {string} part
 */
function pack(into, part) {
  const folder = mkdtempSync(join(tmpdir(), "tacit-device-"));
  try {
    fill(folder, part);
    run(NPM, "pack", folder, "--silent", "--ignore-scripts", "--pack-destination", into);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Return a declaration file with the comments of types at their declarations, without tags that say
 * nothing but a type, and without comments of declarations that have none of these names.
 * @param {string} path
 * @param {ReadonlySet<string>} names
 */
function documented(path, names) {
  const text = readFileSync(path, "utf8");
  /** @type {Map<string, string>} */
  const comments = new Map();
  const bare = text.replace(TYPEDEF, (_, before, typedef) => {
    const [name = "", ...after] = untyped(typedef).split(/\s+(?:\* )?/);
    const words = `${before.trim()} ${after.join(" ").trim()}`.replace(/^\s*\*? +|\s*\*?\s*$/g, "");
    if (words !== "") comments.set(name, words);
    return "";
  });
  const placed = bare.replace(/^export type (\w+)/gm, (line, name) =>
    comments.has(name) ? `/** ${comments.get(name)} */\n${line}` : line,
  );
  const shown = placed.replace(DECLARATION, (said, name) => (names.has(name) ? said : ""));
  const said = shown.replace(TAG, (tag) => (/@\w+\s+\S+\s+\S/.test(untyped(tag)) ? tag : ""));
  return said.replace(/ *\/\*\*[\s*]*\*\/\n/g, "");
}

/**
 * Return a tag without its type in braces.
 * @param {string} tag
 */
function untyped(tag) {
  let [kept, depth] = ["", 0];
  for (const letter of tag) {
    depth += Number(letter === "{");
    if (depth === 0) kept += letter;
    depth -= Number(letter === "}");
  }
  return kept.trim();
}

const into = process.argv[2];
if (into === undefined) throw new Error("The folder is missing; run node npm/pack.js INTO.");
mkdirSync(into, { recursive: true });
for (const part of ["", PART]) pack(resolve(into), part);
