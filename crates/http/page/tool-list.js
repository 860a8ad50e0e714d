// The list of tools, with search, grouped by source or by risk.

import { riskBadge } from "./badge.js";
import { element, fill } from "./element.js";
import { counted, originOf, RISKS } from "./format.js";
import { onChange, state } from "./state.js";

/** The choices are kept while the person visits other views. */
const choice = { search: "", by: "source", risk: "" };

/** Returns `{ node, select, stop }`. `select` highlights the tool that is shown. */
export function toolList() {
  let selected;
  const groups = element("div", { class: "groups" });
  const count = element("p", { class: "note", role: "status" });
  const show = () => {
    const found = state.tools.filter(isWanted);
    fill(
      count,
      counted(found.length, "tool"),
      found.length < state.tools.length && ` of ${state.tools.length}`,
    );
    fill(
      groups,
      grouped(found).map(([title, tools]) => group(title, tools, selected)),
    );
    if (found.length === 0) {
      fill(
        groups,
        element(
          "p",
          { class: "empty" },
          state.tools.length === 0 ? "No tools yet." : "No tool matches.",
        ),
      );
    }
  };
  const set = (key) => (event) => {
    choice[key] = event.target.value;
    show();
  };
  const search = element("input", {
    id: "search",
    type: "search",
    placeholder: "Search tools  ( / )",
    value: choice.search,
    autocomplete: "off",
    "aria-label": "Search tools",
    on: { input: set("search") },
  });
  const node = element(
    "div",
    { class: "tool-list" },
    element(
      "div",
      { class: "tool-filters" },
      search,
      element(
        "div",
        { class: "two" },
        select(
          "Group by",
          choice.by,
          [
            ["source", "By source"],
            ["risk", "By risk"],
          ],
          set("by"),
        ),
        select(
          "Show only",
          choice.risk,
          [["", "Any risk"], ...RISKS.map((it) => [it, `Risk: ${it}`])],
          set("risk"),
        ),
      ),
      count,
    ),
    groups,
  );
  node.addEventListener("keydown", (event) => moveBetweenLinks(event, node));
  const stop = onChange(["tools"], show);
  show();
  return {
    node,
    stop,
    select: (name) => {
      selected = name;
      show();
    },
  };
}

function select(label, value, options, onChangeOf) {
  const node = element(
    "select",
    { "aria-label": label, on: { change: onChangeOf } },
    options.map(([key, text]) => element("option", { value: key }, text)),
  );
  node.value = value;
  return node;
}

function isWanted(tool) {
  if (choice.risk !== "" && tool.risk !== choice.risk) return false;
  const text = [tool.name, tool.title, tool.description, ...(tool.aliases ?? [])]
    .join("\n")
    .toLowerCase();
  return choice.search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function grouped(tools) {
  const groups = new Map();
  for (const tool of tools) {
    const title = choice.by === "risk" ? tool.risk : originOf(tool);
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push(tool);
  }
  const entries = [...groups];
  if (choice.by !== "risk") return entries;
  return entries
    .sort(([a], [b]) => RISKS.indexOf(b) - RISKS.indexOf(a))
    .map(([risk, inside]) => [
      risk === "none" ? "No risk" : `${risk[0].toUpperCase()}${risk.slice(1)} risk`,
      inside,
    ]);
}

function group(title, tools, selected) {
  return element(
    "section",
    {},
    element("h2", {}, title, element("span", { class: "count" }, tools.length)),
    element(
      "ul",
      {},
      tools.map((tool) => element("li", {}, link(tool, tool.name === selected))),
    ),
  );
}

function link(tool, isSelected) {
  return element(
    "a",
    {
      href: `#/tools/${encodeURIComponent(tool.name)}`,
      class: ["tool-link", tool.disabled && "off"],
      "aria-current": isSelected && "page",
    },
    element("span", { class: "name" }, tool.name),
    element("span", { class: "title" }, tool.disabled ? "switched off" : tool.title),
    riskBadge(tool.risk),
  );
}

/** The arrow keys move from tool to tool, and from the search to the first tool. */
function moveBetweenLinks(event, node) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (event.target.tagName === "SELECT") return;
  const links = [...node.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  event.preventDefault();
  (links[at] ?? (at < 0 ? node.querySelector("#search") : links.at(-1)))?.focus();
}
