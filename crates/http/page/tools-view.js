// The view of tools: the list, and beside it one tool. On narrow screens the tool replaces the list.

import { badge, riskBadge } from "./badge.js";
import { element, fill } from "./element.js";
import { originOf } from "./format.js";
import { inline, prose } from "./prose.js";
import { onChange, state } from "./state.js";
import { toolCall } from "./tool-call.js";
import { toolList } from "./tool-list.js";

/** The call forms by tool. They are kept, so that visiting another view loses no input and ends no call. */
const begun = new Map();

/** Shows the view in `node`. `show(name)` changes the tool; `stop()` ends the view. */
export function toolsView(node) {
  const list = toolList();
  const pane = element("section", { class: "tool-pane", "aria-label": "The chosen tool" });
  fill(
    node,
    element("h1", { class: "unseen" }, "Tools"),
    element("div", { class: "split" }, list.node, pane),
  );
  let shown;
  let drawn;
  const show = (name) => {
    shown = name;
    list.select(name);
    node.classList.toggle("has-tool", name !== undefined);
    const tool = toolNamed(name);
    drawn = knownOf(tool);
    if (tool === undefined) return fill(pane, nothing(name));
    if (!begun.has(tool.name))
      begun.set(tool.name, { schema: schemaOf(tool), node: toolCall(tool) });
    fill(pane, heading(tool), begun.get(tool.name).node);
    pane.scrollTop = 0;
  };
  const stopListening = onChange(["tools"], () => {
    const tools = new Map(state.tools.map((tool) => [tool.name, tool]));
    for (const [name, { schema }] of begun)
      if (schemaOf(tools.get(name)) !== schema) begun.delete(name);
    const tool = toolNamed(shown);
    if (shown === undefined || knownOf(tool) === drawn) return;
    // A form that a person may be filling in is not replaced.
    const isFormShown = pane.contains(begun.get(tool?.name)?.node ?? null);
    if (!isFormShown) return show(shown);
    drawn = knownOf(tool);
    pane.querySelector(".tool-head").replaceWith(heading(tool));
  });
  return {
    show,
    stop: () => {
      list.stop();
      stopListening();
    },
  };
}

const toolNamed = (name) =>
  state.tools.find((tool) => tool.name === name || tool.aliases?.includes(name));

const schemaOf = (tool) => JSON.stringify(tool?.inputSchema);

/** The shown tool as a string, to detect changes. */
const knownOf = (tool) => JSON.stringify(tool ?? { isLoaded: isLoaded() });

const isLoaded = () => state.tools.length > 0;

function nothing(name) {
  if (name === undefined) return welcome();
  if (!isLoaded()) return element("p", { class: "empty" }, "Loading…");
  return element("p", { class: "empty" }, "There is no tool ", element("code", {}, name), ".");
}

function welcome() {
  const keys = [
    ["/", "search the tools"],
    ["↑ ↓", "go from tool to tool"],
    ["Ctrl Enter", "call the tool with the input in its form"],
    ["Esc", "leave a field, then the tool"],
  ];
  return element(
    "div",
    { class: "welcome" },
    element(
      "p",
      { class: "lead" },
      "Choose a tool to call it, or watch what other clients of this registry do.",
    ),
    element(
      "dl",
      { class: "facts" },
      keys.map(([key, what]) => [
        element("dt", {}, element("kbd", {}, key)),
        element("dd", {}, what),
      ]),
    ),
  );
}

function heading(tool) {
  const { name, title, description, aliases = [], sideEffect, risk, allowed, disabled } = tool;
  return element(
    "header",
    { class: "tool-head" },
    element("a", { class: "back", href: "#/tools" }, "‹ All tools"),
    element(
      "h2",
      { tabindex: "-1" },
      element("span", { class: "mono" }, name),
      element("span", { class: "title" }, title),
    ),
    element(
      "p",
      { class: "badges" },
      badge(originOf(tool)),
      riskBadge(risk),
      badge(`effect: ${sideEffect}`),
      disabled
        ? badge("switched off", "bad")
        : badge(allowed ? "runs without asking" : "may ask first", allowed ? "good" : "warn"),
      aliases.length > 0 && badge(`also ${aliases.join(", ")}`),
    ),
    element(
      "details",
      { class: "fold description" },
      element("summary", {}, inline(firstSentence(description))),
      prose(description),
    ),
  );
}

function firstSentence(text) {
  const [first] = text.split("\n");
  return first.length <= 160 ? first : `${first.slice(0, 159)}…`;
}
