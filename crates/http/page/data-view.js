// Structured data as a tree: objects and lists are expanded one level at a time.

import { element } from "./element.js";

/** The maximum number of entries that are shown of one object or list. */
const MOST_ENTRIES = 500;

/** Any JSON value. */
export function dataView(value, { open = false, name } = {}) {
  const label = name === undefined ? [] : [element("span", { class: "key" }, name), ": "];
  if (value === null || typeof value !== "object") {
    return element("div", { class: "data-leaf" }, label, leaf(value));
  }
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const size = isList ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return element("div", { class: "data-leaf" }, label, isList ? "[]" : "{}");
  const node = element(
    "details",
    { class: "data", open },
    element("summary", {}, label, element("span", { class: "dim" }, size)),
  );
  const show = () => {
    if (!node.open || node.childElementCount > 1) return;
    for (const [key, inner] of entries.slice(0, MOST_ENTRIES)) {
      node.append(dataView(inner, { name: key, open: entries.length <= 3 }));
    }
    const left = entries.length - MOST_ENTRIES;
    if (left > 0)
      node.append(element("div", { class: "dim" }, `${left} more entries are not shown`));
  };
  // Built when it is first opened, because answers may be large.
  node.addEventListener("toggle", show);
  show();
  return node;
}

function leaf(value) {
  const kind = value === null ? "null" : typeof value;
  return element("span", { class: `value ${kind}` }, JSON.stringify(value));
}
