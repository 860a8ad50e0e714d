// The timeline of calls: start time, tool, decision and duration.

import { actionBadge, decisionBadge, statusBadge } from "./badge.js";
import { element, fill, fillByKey } from "./element.js";
import { counted, shownDay, shownDuration, shownTime } from "./format.js";
import { inline } from "./prose.js";
import { onChange, state } from "./state.js";

const SHOWN = {
  all: ["All calls", () => true],
  open: ["Under way", (call) => isOpen(call)],
  trouble: [
    "Failed or refused",
    ({ status }) => ["failed", "refused", "cancelled"].includes(status),
  ],
  asked: ["Asked about", ({ decision }) => decision?.action === "ask"],
};

let chosen = "all";

export function callsView(node) {
  const rows = element("ol", { class: "timeline" });
  const count = element("p", { class: "note", role: "status" });
  const empty = element(
    "p",
    { class: "empty" },
    "No calls yet. The calls of every client of this registry appear here.",
  );
  const filter = element(
    "select",
    {
      "aria-label": "Which calls",
      on: {
        change: () => {
          chosen = filter.value;
          show();
        },
      },
    },
    Object.entries(SHOWN).map(([key, [text]]) => element("option", { value: key }, text)),
  );
  filter.value = chosen;
  fill(
    node,
    element("div", { class: "view-head" }, element("h1", {}, "Calls"), filter, count),
    rows,
    empty,
  );
  const show = () => {
    const calls = [...state.calls.values()]
      .filter(SHOWN[chosen][1])
      .sort((a, b) => b.number - a.number);
    const longest = Math.max(1, ...calls.map(({ durationMs = 0 }) => durationMs));
    fillByKey(rows, calls, {
      key: ({ number }) => number,
      create: (call) => {
        const row = element("li");
        update(call, row, longest);
        return row;
      },
      update: (call, row) => update(call, row, longest),
    });
    fill(count, counted(calls.length, "call"));
    empty.hidden = state.calls.size > 0;
  };
  const stop = onChange(["calls"], show);
  show();
  return { show: () => {}, stop };
}

/** Redraws a row if its call has changed. */
function update(call, row, longest) {
  const drawn = JSON.stringify(call);
  if (row.dataset.drawn !== drawn) {
    row.dataset.drawn = drawn;
    const isUnfolded = row.firstElementChild?.open ?? false;
    const hadFocus = row.contains(document.activeElement);
    fill(row, rowOf(call, isUnfolded));
    if (hadFocus) row.querySelector("summary").focus();
  }
  // Logarithmic, because durations range from microseconds to minutes.
  const part =
    call.durationMs === undefined ? 0 : Math.log1p(call.durationMs) / Math.log1p(longest);
  row.querySelector(".bar").style.setProperty("--part", part.toFixed(3));
}

const isOpen = ({ status }) => status === "running" || status === "waiting";

function rowOf(call, open) {
  const { tool, input, startedAt, status, durationMs, decision, errorType, toolUseId, sessionId } =
    call;
  const rows = [
    ["Decision", decision && [actionBadge(decision.action), " ", inline(decision.reason)]],
    ["A person", decision?.asked && `answered: ${decision.asked}`],
    ["Error", errorType],
    ["Started", shownDay(startedAt)],
    ["Call id", toolUseId],
    ["Session", sessionId],
    ["Input", element("pre", { class: "text-box", tabindex: "0" }, shownInput(input))],
  ].filter(([, value]) => value);
  return element(
    "details",
    { class: "call", open },
    element(
      "summary",
      {},
      element("time", { datetime: new Date(startedAt).toISOString() }, shownTime(startedAt)),
      element("span", { class: "mono name" }, tool),
      element("span", { class: "input" }, shownInput(input)),
      element(
        "span",
        { class: "decision" },
        decision && decisionBadge(decision),
        statusBadge(status),
      ),
      element(
        "span",
        { class: "took" },
        element("span", { class: ["bar", `is-${status}`], "aria-hidden": "true" }),
        element("span", {}, shownDuration(durationMs) || (isOpen(call) && "…")),
      ),
    ),
    element(
      "dl",
      { class: "facts" },
      rows.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
    ),
    element(
      "p",
      {},
      element("a", { href: `#/tools/${encodeURIComponent(tool)}` }, "Open the tool"),
    ),
  );
}

function shownInput(input) {
  return typeof input === "string" ? input : JSON.stringify(input ?? "");
}
