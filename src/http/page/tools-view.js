// The view of tools: the list, and beside it (or instead of it, where there is little room) one tool.

import { badge, riskBadge } from "./badge.js";
import { element, fill } from "./element.js";
import { originOf } from "./format.js";
import { prose } from "./prose.js";
import { onChange, state } from "./state.js";
import { toolCall } from "./tool-call.js";
import { toolList } from "./tool-list.js";

/** Inputs that were begun, by tool, so that a look elsewhere loses nothing. */
const drafts = new Map();

/** Shows the view in `node`; `show(name)` changes the tool, `stop()` ends it. */
export function toolsView(node) {
  const list = toolList();
  const pane = element("section", { class: "tool-pane", "aria-label": "The chosen tool" });
  fill(node, element("h1", { class: "unseen" }, "Tools"), element("div", { class: "split" }, list.node, pane));
  let shown;
  let call;
  const leave = () => {
    if (call) drafts.set(shown, call.draft());
    call?.stop();
    call = undefined;
  };
  const show = (name) => {
    leave();
    shown = name;
    list.select(name);
    node.classList.toggle("has-tool", name !== undefined);
    const tool = state.tools.find((it) => it.name === name || it.aliases?.includes(name));
    if (tool === undefined) return fill(pane, nothing(name));
    call = toolCall(tool, drafts.get(name));
    fill(pane, heading(tool), call.node);
    pane.scrollTop = 0;
  };
  // Only if the tool came or went: a form that somebody fills in stays.
  const stopListening = onChange(["tools"], () => {
    const isThere = state.tools.some((it) => it.name === shown);
    if (shown !== undefined && isThere !== (call !== undefined)) show(shown);
  });
  return {
    show,
    stop: () => {
      leave();
      list.stop();
      stopListening();
    },
  };
}

function nothing(name) {
  if (name === undefined) return element("p", { class: "empty" }, "Choose a tool to call it.");
  if (state.tools.length === 0) return element("p", { class: "empty" }, "Loading…");
  return element("p", { class: "empty" }, "There is no tool ", element("code", {}, name), " any more.");
}

function heading(tool) {
  const { name, title, description, aliases = [], sideEffect, risk, allowed, disabled } = tool;
  return element(
    "header",
    { class: "tool-head" },
    element("a", { class: "back", href: "#/tools" }, "‹ All tools"),
    element("h2", { tabindex: "-1" }, element("span", { class: "mono" }, name), element("span", { class: "title" }, title)),
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
    element("details", { class: "fold description" }, element("summary", {}, firstSentence(description)), prose(description)),
  );
}

function firstSentence(text) {
  const [first] = text.split("\n");
  return first.length <= 160 ? first : `${first.slice(0, 159)}…`;
}
