"use strict";

// The input of a call from what was typed: JSON, and parameters that are read by the tool's schema.

/**
 * @import { Schema } from "./schema-types.js"
 * @typedef {"flag" | "json" | "text"} Form how a value was written: `name`, `name:=value` or `name=value`
 * @typedef {(cause: string) => UsageError} Wrong makes the error of an argument
 */

const fs = require("node:fs");
const { wordsOf } = require("../boundary/errors.js");
const { didYouMean } = require("./closest.js");
const { MAX_INPUT_BYTES } = require("../boundary/input-size.js");
const { branchesOf, itemsOf, propertyOf, typesOf } = require("./schema-types.js");
const { decoded } = require("./standard-input.js");
const { UsageError } = require("./usage-error.js");

/** The largest index of a list that is typed item by item. */
const MAX_INDEX = 9_999;

/**
 * The input of a call.
 *
 * @param {{ json?: string | undefined, args?: string[] | undefined }} typed `{ json, args }`: the text of `--json` or the operand, and the values of `--arg`
 * @param {Schema} schema the schema of the tool's input
 * @param {() => Promise<string>} readInput gives all of standard input, once
 */
async function callInput({ json, args = [] }, schema, readInput) {
  const given =
    json === undefined ? {} : parsedJson(json === "-" ? await readInput() : json, "the input");
  if (args.length === 0) return given;
  if (!isObject(given)) {
    throw new UsageError("`--arg` adds to an input that is an object, and the given one is none");
  }
  const input = new TypedInput(given, schema);
  for (const arg of args) {
    const { names, form, text } = splitArgument(arg, schema);
    const value = text === undefined ? undefined : await contentOf(text, arg, readInput);
    input.set(names, form, value, arg);
  }
  return input.value;
}

/**
 * The names of the path, `=` or `:=` or nothing, and the text behind it.
 *
 * @param {string} arg
 * @param {Schema} schema
 * @returns {{ names: string[], form: Form, text?: string }}
 */
function splitArgument(arg, schema) {
  const at = arg.indexOf("=");
  if (at === -1) return { names: namesOf(arg, schema), form: "flag" };
  const isJson = arg[at - 1] === ":";
  const name = arg.slice(0, isJson ? at - 1 : at);
  if (name === "") throw new UsageError(`\`--arg ${arg}\` has no name before \`=\``);
  return { names: namesOf(name, schema), form: isJson ? "json" : "text", text: arg.slice(at + 1) };
}

/**
 * A name with dots is first looked up as a whole, and only then as a path into an object.
 *
 * @param {string} name
 * @param {Schema} schema
 */
function namesOf(name, schema) {
  return propertyOf(schema, schema, name) === undefined ? name.split(".") : [name];
}

/**
 * The text itself, or for `@file` the content of the file.
 *
 * @param {string} text
 * @param {string} arg
 * @param {() => Promise<string>} readInput
 */
async function contentOf(text, arg, readInput) {
  if (text.startsWith("@@")) return text.slice(1);
  if (!text.startsWith("@") || text === "@") return text;
  if (text === "@-") return readInput();
  const file = text.slice(1);
  let bytes;
  try {
    const { size } = fs.statSync(file);
    if (size > MAX_INPUT_BYTES)
      throw new Error(`it has ${size} bytes, and an input at most ${MAX_INPUT_BYTES}`);
    bytes = fs.readFileSync(file);
  } catch (error) {
    throw new UsageError(
      `\`--arg ${arg}\`: \`${file}\` cannot be read (${wordsOf(error)}); write \`@@\` for a text that begins with \`@\``,
    );
  }
  return decoded(bytes, file);
}

/**
 * @param {string} text
 * @param {string} what
 * @returns {unknown}
 */
function parsedJson(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const advice = /^[\w.-]+:?=/.test(text)
      ? `; a parameter is written as \`--arg ${text.slice(0, 80)}\``
      : "";
    throw new UsageError(`${what} is not JSON (${wordsOf(error)}): ${text.slice(0, 80)}${advice}`);
  }
}

/** An input that is put together from parameters. */
class TypedInput {
  #root;
  #schema;
  /**
   * The paths that were set, which a second value may only extend if they are lists.
   *
   * @type {Set<string>}
   */
  #set = new Set();

  /**
   * @param {object} given
   * @param {Schema} schema
   */
  constructor(given, schema) {
    this.#root = given;
    this.#schema = schema;
  }

  get value() {
    return this.#root;
  }

  /**
   * @param {string[]} names
   * @param {Form} form
   * @param {string | undefined} text
   * @param {string} arg
   */
  set(names, form, text, arg) {
    /** @type {Wrong} */
    const wrong = (cause) => new UsageError(`\`--arg ${arg}\`: ${cause}`);
    let [place, schema] = [this.#root, this.#schema];
    for (const [at, name] of names.slice(0, -1).entries()) {
      const key = keyIn(place, name, wrong);
      const inner = memberOf(schema, this.#schema, place, name, wrong);
      const next = ownValue(place, key);
      if (next !== undefined && !isObject(next) && !Array.isArray(next)) {
        throw wrong(
          `\`${names.slice(0, at + 1).join(".")}\` has a value that nothing can be put into`,
        );
      }
      const types = typesOf(inner, this.#schema);
      const isList = types.has("array") && !types.has("object");
      schema = inner;
      place = next ?? put(place, key, isList ? [] : {});
    }
    const last = names.at(-1) ?? "";
    const key = keyIn(place, last, wrong);
    const inner = memberOf(schema, this.#schema, place, last, wrong);
    this.#put(place, key, inner, { path: names.join("."), form, text, wrong });
  }

  /**
   * @param {object} place
   * @param {string | number} key
   * @param {Schema} schema
   * @param {{ path: string, form: Form, text: string | undefined, wrong: Wrong }} given
   */
  #put(place, key, schema, { path, form, text = "", wrong }) {
    const types = typesOf(schema, this.#schema);
    const isList = types.has("array") && !types.has("string");
    const before = this.#set.has(path) ? ownValue(place, key) : undefined;
    if (form === "json") {
      const value = parsedJson(text, `\`${path}\``);
      if (!isList || Array.isArray(value)) {
        if (before !== undefined) throw wrong(`\`${path}\` is given twice`);
        put(place, key, value);
      } else {
        put(place, key, [...itemsOfList(before), value]);
      }
    } else if (isList) {
      if (form === "flag") throw wrong(`\`${path}\` needs a value: \`${path}=…\``);
      const items = itemsOf(schema, this.#schema);
      const item = typedValue(text, items, this.#schema, { path, wrong });
      put(place, key, [...itemsOfList(before), item]);
    } else {
      if (before !== undefined) throw wrong(`\`${path}\` is given twice`);
      const isSwitch = form === "flag" && types.has("boolean");
      if (form === "flag" && !isSwitch) throw wrong(`\`${path}\` needs a value: \`${path}=…\``);
      put(place, key, isSwitch || typedValue(text, schema, this.#schema, { path, wrong }));
    }
    this.#set.add(path);
  }
}

/**
 * A text as a value of the type that the schema asks for.
 *
 * @param {string} text
 * @param {Schema} schema
 * @param {Schema} root
 * @param {{ path: string, wrong: Wrong }} given
 */
function typedValue(text, schema, root, { path, wrong }) {
  const types = typesOf(schema, root);
  if (types.size === 0 || types.has("string")) return text;
  const word = text.trim();
  if (types.has("boolean") && ["true", "false"].includes(word)) return word === "true";
  if (types.has("null") && word === "null") return null;
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(word);
  if ((types.has("number") || types.has("integer")) && isNumber && Number.isFinite(Number(word))) {
    return Number(word);
  }
  if (types.has("object") || types.has("array")) {
    throw wrong(
      `\`${path}\` takes ${wordsFor(types)}; write \`${path}:=JSON\`, or \`${path}.name=value\``,
    );
  }
  throw wrong(`\`${path}\` takes ${wordsFor(types)}, got \`${text.slice(0, 80)}\``);
}

/** @param {Set<string>} types */
function wordsFor(types) {
  /** @type {Record<string, string>} */
  const words = {
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
    null: "null",
    object: "an object",
    array: "a list",
  };
  return [...types].map((type) => words[type] ?? type).join(" or ");
}

/**
 * The schema of a member of an object or a list.
 *
 * @param {Schema} schema
 * @param {Schema} root
 * @param {object} place
 * @param {string} name
 * @param {Wrong} wrong
 * @returns {Schema}
 */
function memberOf(schema, root, place, name, wrong) {
  if (Array.isArray(place)) return itemsOf(schema, root);
  const found = propertyOf(schema, root, name);
  if (found !== undefined) return found;
  const branches = branchesOf(schema, root);
  const names = branches.flatMap((branch) => Object.keys(branch.properties ?? {}));
  const isOpen = branches.some((branch) => branch.additionalProperties !== false);
  if (isOpen || names.length === 0) return {};
  const meant =
    didYouMean(name, names) || `; there are ${names.map((it) => `\`${it}\``).join(", ")}`;
  throw wrong(`there is no parameter \`${name}\`${meant}`);
}

/**
 * @param {object} place
 * @param {string} name
 * @param {Wrong} wrong
 */
function keyIn(place, name, wrong) {
  if (!Array.isArray(place)) return name;
  const index = Number(name);
  if (!/^\d+$/.test(name) || index > MAX_INDEX)
    throw wrong(`\`${name}\` is no place in a list, which count from 0`);
  if (index > place.length)
    throw wrong(
      `the list has ${place.length} items so far, so the next one is ${place.length}, not ${name}`,
    );
  return index;
}

/**
 * The value of an own property.
 *
 * @param {object} place
 * @param {string | number} key
 * @returns {unknown}
 */
function ownValue(place, key) {
  return Object.hasOwn(place, key) ? Reflect.get(place, key) : undefined;
}

/**
 * The items of a list that was given before; none if it was not.
 *
 * @param {unknown} before
 * @returns {unknown[]}
 */
function itemsOfList(before) {
  return Array.isArray(before) ? before : [];
}

/**
 * Sets an own property, also if its name is that of a setter such as `__proto__`.
 *
 * @template T
 * @param {object} place
 * @param {string | number} key
 * @param {T} value
 */
function put(place, key, value) {
  Object.defineProperty(place, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return value;
}

/**
 * @param {unknown} value
 * @returns {value is object}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

module.exports = { callInput };
