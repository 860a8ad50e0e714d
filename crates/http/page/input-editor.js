// The input of a call, as a form and as raw JSON. Both show the same value.

import { element, fill } from "./element.js";
import { schemaForm } from "./schema-form.js";

/** Returns `{ node, read }`, where `read()` returns `{ value }` or `{ problem }`. */
export function inputEditor(schema) {
  const form = schemaForm(schema, () => {
    raw.value = shown(form.get());
    fill(problem);
  });
  const problem = element("p", { class: "problem", role: "alert" });
  const raw = element("textarea", {
    class: "mono",
    id: "raw-input",
    rows: 12,
    spellcheck: "false",
    "aria-label": "The input as JSON",
    on: {
      input: () => {
        const { value, problem: wrong } = readRaw();
        fill(problem, wrong);
        if (wrong === undefined) form.set(value);
      },
    },
  });
  const readRaw = () => {
    try {
      const value = JSON.parse(raw.value);
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      return isObject ? { value } : { problem: "The input has to be a JSON object." };
    } catch (error) {
      return { problem: `This is not JSON: ${error.message}` };
    }
  };
  form.set({});
  raw.value = shown(form.get());

  const formPane = element("div", { class: "pane" }, form.node);
  const rawPane = element("div", { class: "pane", hidden: true }, raw, problem);
  const choose = (pane) => {
    formPane.hidden = pane !== formPane;
    rawPane.hidden = pane !== rawPane;
  };
  const choice = (text, pane) =>
    element(
      "label",
      {},
      element("input", {
        type: "radio",
        name: "input-form",
        checked: pane === formPane,
        on: { change: () => choose(pane) },
      }),
      element("span", {}, text),
    );
  return {
    node: element(
      "div",
      { class: "input-editor" },
      element(
        "fieldset",
        { class: "segments" },
        element("legend", { class: "unseen" }, "Edit the input as"),
        choice("Form", formPane),
        choice("JSON", rawPane),
      ),
      formPane,
      rawPane,
    ),
    read: () => {
      if (!rawPane.hidden) return readRaw();
      const wrong = form.problem();
      return wrong === undefined ? { value: form.get() } : { problem: wrong };
    },
  };
}

const shown = (value) => JSON.stringify(value ?? {}, null, 2);
