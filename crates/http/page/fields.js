// Form fields for single values. Each field has `node`, `get()`, which returns `undefined` for an omitted value,
// `set(value)`, and `problem()`, which returns why the text is not valid.

import { element } from "./element.js";
import { choicesOf } from "./schema.js";

const noProblem = () => undefined;

/** A text. An empty optional text is omitted; an empty required text is sent. */
export function stringField(schema, { id, isRequired, describedBy, onInput }) {
  const node = element("textarea", {
    id,
    rows: 1,
    spellcheck: "false",
    autocapitalize: "off",
    placeholder: schema.default ?? schema.examples?.[0],
    "aria-describedby": describedBy,
    "aria-required": isRequired,
    on: { input: onInput },
  });
  const fit = () => {
    node.rows = Math.min(14, node.value.split("\n").length);
  };
  node.addEventListener("input", fit);
  return {
    node,
    get: () => (node.value === "" && !isRequired ? undefined : node.value),
    set: (value) => {
      node.value = value === undefined ? "" : String(value);
      fit();
    },
    problem: noProblem,
  };
}

/** A number. Other text is reported by `problem()` and not sent. */
export function numberField(schema, { id, isRequired, describedBy, onInput }) {
  const node = element("input", {
    id,
    type: "text",
    inputmode: schema.type === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    placeholder: schema.default,
    "aria-describedby": describedBy,
    "aria-required": isRequired,
    on: { input: onInput },
  });
  const read = () => Number(node.value.trim());
  const isEmpty = () => node.value.trim() === "";
  return {
    node,
    get: () => (isEmpty() || Number.isNaN(read()) ? undefined : read()),
    set: (value) => {
      node.value = value ?? "";
    },
    problem: () => {
      if (isEmpty()) return undefined;
      if (Number.isNaN(read())) return `\`${node.value}\` is not a number`;
      if (schema.type === "integer" && !Number.isInteger(read())) return "only whole numbers";
      return undefined;
    },
  };
}

/** True, false, or omitted. */
export function booleanField(schema, options) {
  return selectField([true, false], schema, options);
}

/** One of the values that the schema lists. */
export function choiceField(schema, options) {
  return selectField(choicesOf(schema), schema, options);
}

function selectField(choices, schema, { id, isRequired, describedBy, onInput }) {
  const preset =
    schema.default === undefined ? "not set" : `not set (${JSON.stringify(schema.default)})`;
  const node = element(
    "select",
    { id, "aria-describedby": describedBy, "aria-required": isRequired, on: { change: onInput } },
    element("option", { value: "" }, isRequired ? "choose…" : preset),
    choices.map((choice, index) =>
      element(
        "option",
        { value: String(index + 1) },
        typeof choice === "string" ? choice : JSON.stringify(choice),
      ),
    ),
  );
  return {
    node,
    get: () => (node.value === "" ? undefined : choices[Number(node.value) - 1]),
    set: (value) => {
      const at = choices.indexOf(value);
      node.value = at < 0 ? "" : String(at + 1);
    },
    problem: noProblem,
  };
}

/** Any value, as JSON. */
export function jsonField(schema, { id, isRequired, describedBy, onInput }) {
  const field = stringField({}, { id, isRequired, describedBy, onInput });
  const { node } = field;
  node.classList.add("mono");
  node.placeholder =
    schema.type === "array" ? "[…]" : schema.type === "object" ? "{…}" : "any JSON value";
  const read = () => {
    try {
      return { value: JSON.parse(node.value) };
    } catch (error) {
      return { error };
    }
  };
  return {
    node,
    get: () => read().value,
    set: (value) => field.set(value === undefined ? undefined : JSON.stringify(value, null, 2)),
    problem: () => {
      if (node.value.trim() === "") return undefined;
      const { error } = read();
      return error && `not JSON: ${error.message}`;
    },
  };
}
