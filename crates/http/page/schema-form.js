// A tool's input schema as a form.

import { button, element, fill } from "./element.js";
import { booleanField, choiceField, jsonField, numberField, stringField } from "./fields.js";
import { inline } from "./prose.js";
import { kindOf, limitsOf, resolved } from "./schema.js";

/** More optional fields than this are collapsed. */
const MANY_FIELDS = 6;
const DEEPEST = 5;

let lastId = 0;

/** A form for a schema: `{ node, get, set, problem }`. `onInput` is called whenever a value changes. */
export function schemaForm(schema, onInput) {
  const form = { root: schema, onInput };
  const fields = objectField(resolved({ type: "object", ...schema }, schema), {
    ...form,
    isRequired: true,
    depth: 0,
  });
  if (Object.keys(schema.properties ?? {}).length === 0) {
    fill(fields.node, element("p", { class: "note" }, "This tool takes no input."));
  }
  return fields;
}

const KINDS = {
  string: "text",
  boolean: "yes or no",
  choice: "one of",
  json: "JSON",
  array: "list",
  integer: "whole number",
};

const MAKERS = {
  string: stringField,
  integer: numberField,
  number: numberField,
  boolean: booleanField,
  choice: choiceField,
  json: jsonField,
  array: arrayField,
  object: objectField,
};

function labelled(name, schema, form) {
  const whole = resolved(schema, form.root);
  const kind = form.depth >= DEEPEST ? "json" : kindOf(whole);
  const id = `field-${++lastId}`;
  const isGroup = kind === "array" || kind === "object";
  const hintId = `${id}-hint`;
  const warning = element("p", { class: "problem", id: `${id}-problem`, role: "alert" });
  const describedBy = `${hintId} ${id}-problem`;
  const check = () => {
    const problem = isGroup ? undefined : field.problem();
    fill(warning, problem && inline(problem));
    field.node.setAttribute("aria-invalid", String(problem !== undefined));
    form.onInput();
  };
  const field = MAKERS[kind](whole, {
    ...form,
    id,
    describedBy,
    onInput: isGroup ? form.onInput : check,
  });
  const text = [
    element("span", { class: "name" }, name),
    // The spaces separate the words for screen readers.
    " ",
    form.isRequired && !form.isEntry && [element("span", { class: "required" }, "required"), " "],
    element(
      "span",
      { class: "kind" },
      [KINDS[kind] ?? kind, limitsOf(whole)].filter(Boolean).join(", "),
    ),
  ];
  const hint = element("div", { class: "hint", id: hintId }, inline(whole.description ?? ""));
  const isShort = ["boolean", "choice", "integer", "number"].includes(kind);
  const className = ["field", isShort ? "short" : "long"];
  const node = isGroup
    ? element(
        "fieldset",
        { class: className, "aria-describedby": hintId },
        element("legend", {}, text),
        hint,
        field.node,
      )
    : element(
        "div",
        { class: className },
        element("label", { for: id }, text),
        field.node,
        warning,
        hint,
      );
  const set = (value) => {
    field.set(value);
    if (!isGroup) fill(warning);
  };
  return { ...field, node, set };
}

function objectField(schema, form) {
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {});
  const fields = new Map();
  for (const name of [...names].sort((a, b) => required.has(b) - required.has(a))) {
    const inner = {
      ...form,
      isRequired: required.has(name),
      isEntry: false,
      depth: form.depth + 1,
    };
    fields.set(name, labelled(name, schema.properties[name], inner));
  }
  const grid = (chosen) =>
    element(
      "div",
      { class: "fields" },
      chosen.map((name) => fields.get(name).node),
    );
  const [first, others] = [
    names.filter((it) => required.has(it)),
    names.filter((it) => !required.has(it)),
  ];
  const fold =
    form.depth === 0 && others.length > MANY_FIELDS
      ? element(
          "details",
          { class: "fold" },
          element("summary", {}, `${others.length} optional fields`),
          grid(others),
        )
      : undefined;
  const node = element(
    "div",
    {},
    first.length > 0 && grid(first),
    fold ?? (others.length > 0 && grid(others)),
  );
  /** Values that the schema does not define. The form does not show them, but keeps them. */
  let further = {};
  return {
    node,
    get: () => {
      const value = { ...further };
      for (const [name, field] of fields) {
        const inner = field.get();
        if (inner !== undefined) value[name] = inner;
      }
      return Object.keys(value).length === 0 && !form.isRequired ? undefined : value;
    },
    set: (value = {}) => {
      const given = typeof value === "object" && value !== null ? value : {};
      further = Object.fromEntries(Object.entries(given).filter(([name]) => !fields.has(name)));
      for (const [name, field] of fields) field.set(given[name]);
      if (fold && others.some((name) => given[name] !== undefined)) fold.open = true;
    },
    problem: () => firstProblem([...fields].map(([name, field]) => [name, field])),
  };
}

function arrayField(schema, form) {
  let items = [];
  const list = element("ol", { class: "items" });
  const node = element(
    "div",
    {},
    list,
    button("Add an entry", { class: "small" }, () => {
      add(undefined).querySelector("textarea, input, select")?.focus();
      form.onInput();
    }),
  );
  const add = (value) => {
    const inner = { ...form, isRequired: true, isEntry: true, depth: form.depth + 1 };
    const field = labelled(`entry ${items.length + 1}`, schema.items, inner);
    if (value !== undefined) field.set(value);
    const remove = button("Remove", { class: "small" }, () => {
      // Keyboard users continue at the next entry.
      const next = row.nextElementSibling ?? row.previousElementSibling;
      items = items.filter((it) => it !== field);
      row.remove();
      number();
      (next ?? node).querySelector(":scope > button").focus();
      form.onInput();
    });
    const row = element("li", {}, field.node, remove);
    items.push(field);
    list.append(row);
    number();
    return row;
  };
  /** Entries are named by their position, so removing one renames those after it. */
  const number = () => {
    [...list.children].forEach((row, index) => {
      row.querySelector(".name").textContent = `entry ${index + 1}`;
      const remove = row.querySelector(":scope > button");
      remove.setAttribute("aria-label", `Remove entry ${index + 1}`);
    });
  };
  return {
    node,
    get: () =>
      items.length === 0 && !form.isRequired
        ? undefined
        : items.map((field) => field.get() ?? null),
    set: (value) => {
      items = [];
      fill(list);
      if (Array.isArray(value)) value.forEach(add);
    },
    problem: () => firstProblem(items.map((field, index) => [`entry ${index + 1}`, field])),
  };
}

function firstProblem(fields) {
  for (const [name, field] of fields) {
    const problem = field.problem();
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}
