/**
 * Says what the device's modules export: names, parameters and values, as one JSON object. Not a test:
 * tests/page/test_names.py asks it, with the modules' paths in `page/device` as arguments.
 */

const DEVICE = "../../src/tacit/page/device/";

/**
 * The parameters of a function as they are written; an object that is taken apart is a list of its
 * names.
 * @param {string} source
 * @returns {(string | string[])[]}
 */
function parameters(source) {
  const taken = /\{[^{}]*\}|\[[^[\]]*\]/y;
  const found = [];
  let at = source.indexOf("(") + 1;
  for (let depth = 1, name = ""; depth > 0; at++) {
    const letter = source[at] ?? ")";
    taken.lastIndex = at;
    const apart = depth === 1 && name.trim() === "" ? taken.exec(source) : null;
    if (apart !== null) {
      found.push([...apart[0].matchAll(/[{[,]\s*(?:\.\.\.)?(\w+)/g)].map(([, one = ""]) => one));
      [at, name] = [at + apart[0].length - 1, "="];
    } else if ((letter === "," && depth === 1) || (letter === ")" && depth === 1)) {
      const [plain = ""] = /^\w*/.exec(name.trim()) ?? [];
      if (plain !== "") found.push(plain);
      [name, depth] = ["", depth - Number(letter === ")")];
    } else {
      depth += Number("([{".includes(letter)) - Number(")]}".includes(letter));
      name += letter;
    }
  }
  return found;
}

/** @param {unknown} value */
function described(value) {
  if (typeof value === "bigint") return { value: String(value) };
  if (typeof value !== "function") return { value };
  const source = String(value);
  if (!source.startsWith("class")) return { parameters: parameters(source) };
  const own = Object.getOwnPropertyDescriptors(value.prototype);
  const methods = Object.entries(own).map(([name, { value: method }]) => {
    const text = name === "constructor" ? source.slice(source.indexOf("constructor(")) : method;
    return [name, parameters(String(text))];
  });
  const parent = Object.getPrototypeOf(value).name ?? "";
  return { methods: Object.fromEntries(methods), parent };
}

const told = await Promise.all(
  process.argv.slice(2).map(async (path) => {
    const exported = Object.entries(await import(DEVICE + path));
    return [path, Object.fromEntries(exported.map(([name, value]) => [name, described(value)]))];
  }),
);
process.stdout.write(JSON.stringify(Object.fromEntries(told)));
