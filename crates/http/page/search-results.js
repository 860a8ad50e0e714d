// The results of searches, grouped by file.

import { element } from "./element.js";
import { counted } from "./format.js";

const MOST_FILES = 300;
const MOST_LINES = 500;

/** The files of a search result, or `undefined` if the data are not from a search. */
export function searchResults(data) {
  if (data === undefined || data === null) return undefined;
  if (Array.isArray(data.counts)) {
    return whole(data, data.counts, ({ file, count }) =>
      plainFile(file, count === 1 ? "1 match" : `${count} matches`),
    );
  }
  if (!Array.isArray(data.files) || data.files.length === 0) return undefined;
  if (data.files.every((it) => typeof it === "string")) {
    return whole(data, data.files, (file) => plainFile(file));
  }
  if (data.files.every((it) => typeof it?.file === "string" && Array.isArray(it.lines))) {
    return whole(data, data.files, fileWithLines);
  }
  return undefined;
}

function whole(data, files, show) {
  const left = files.length - MOST_FILES;
  return element(
    "div",
    { class: "found" },
    data.root && element("p", { class: "note" }, "in ", element("code", {}, data.root)),
    element("ul", {}, files.slice(0, MOST_FILES).map(show)),
    left > 0 && element("p", { class: "note" }, `${left} more files are not shown`),
    data.complete === false &&
      element(
        "p",
        { class: "note" },
        "The list is incomplete: something was left out or could not be read.",
      ),
  );
}

function plainFile(file, note) {
  return element(
    "li",
    { class: "file" },
    element("span", { class: "path" }, file),
    " ",
    note && element("span", { class: "dim" }, note),
  );
}

function fileWithLines({ file, lines }) {
  const matches = lines.filter(({ context }) => !context).length;
  const left = lines.length - MOST_LINES;
  return element(
    "li",
    {},
    element(
      "details",
      { open: true },
      element(
        "summary",
        {},
        element("span", { class: "path" }, file),
        " ",
        element("span", { class: "dim" }, counted(matches, "line")),
      ),
      element("div", { class: "lines" }, lines.slice(0, MOST_LINES).map(lineOf)),
      left > 0 && element("p", { class: "note" }, `${left} more lines are not shown`),
    ),
  );
}

function lineOf({ line, text, context }) {
  return element(
    "div",
    { class: ["line", context && "context"] },
    element("span", { class: "number" }, line ?? ""),
    element("span", { class: "text" }, text ?? ""),
  );
}
