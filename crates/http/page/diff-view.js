// A unified diff in colour, with line numbers. The `+` and `-` signs stay, for people who cannot see the colours.

import { element } from "./element.js";

/** The maximum number of lines that are shown. For the rest, only their number is shown. */
const MOST_LINES = 2_000;

/** True if a text is a unified diff. */
export function isDiff(text) {
  return /^--- .*\n\+\+\+ .*\n@@ /m.test(text) || /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/.test(text);
}

/** A diff as a scrollable block. */
export function diffView(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.slice(0, MOST_LINES);
  const rows = rowsOf(shown);
  const added = rows.filter(({ kind }) => kind === "added").length;
  const removed = rows.filter(({ kind }) => kind === "removed").length;
  const left = lines.length - shown.length;
  return element(
    "figure",
    { class: "diff" },
    element(
      "figcaption",
      {},
      element("span", { class: "path" }, pathOf(shown) ?? "Changes"),
      element("span", { class: "added" }, `+${added}`),
      element("span", { class: "removed" }, `−${removed}`),
    ),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "The changes" },
      element("div", { class: "rows" }, rows.map(rowOf)),
    ),
    left > 0 && element("p", { class: "note" }, `${left} more lines are not shown`),
  );
}

function pathOf(lines) {
  const names = lines
    .filter((line) => /^(\+\+\+|---) /.test(line))
    .map((line) => line.slice(4).replace(/\t.*$/, ""))
    .filter((name) => name !== "/dev/null");
  return names.at(-1);
}

function rowsOf(lines) {
  const rows = [];
  let before = 0;
  let after = 0;
  let isInHunk = false;
  for (const line of lines) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      isInHunk = true;
      rows.push({ kind: "hunk", text: line });
    } else if (!isInHunk) {
      continue;
    } else if (line.startsWith("+")) {
      rows.push({ kind: "added", after: after++, text: line });
    } else if (line.startsWith("-")) {
      rows.push({ kind: "removed", before: before++, text: line });
    } else if (line.startsWith("\\")) {
      rows.push({ kind: "hunk", text: line });
    } else {
      rows.push({ kind: "same", before: before++, after: after++, text: line });
    }
  }
  // Text that is not a diff is shown unchanged; nothing is left out.
  return rows.length > 0 ? rows : lines.map((line) => ({ kind: "same", text: ` ${line}` }));
}

function rowOf({ kind, before = "", after = "", text }) {
  const isLine = kind !== "hunk";
  return element(
    "div",
    { class: ["row", kind] },
    element("span", { class: "number", "aria-hidden": "true" }, before),
    element("span", { class: "number", "aria-hidden": "true" }, after),
    element("span", { class: "sign" }, isLine ? text.slice(0, 1) || " " : ""),
    element("span", { class: "text" }, isLine ? text.slice(1) : text),
  );
}
