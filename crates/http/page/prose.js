// Renders descriptions: paragraphs, lists and `code`. All other markup stays as text.

import { element } from "./element.js";

/** The nodes of a text. */
export function prose(text) {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== "")
    .flatMap(blockOf);
}

/** One line with `code` in it. */
export function inline(text) {
  return text
    .split(/(`[^`\n]+`)/)
    .map((part) => (/^`.+`$/.test(part) ? element("code", {}, part.slice(1, -1)) : part));
}

function blockOf(block) {
  const nodes = [];
  let list;
  for (const line of block.split("\n")) {
    const item = /^\s*[-*] (.*)$/.exec(line);
    if (item) {
      if (!list) nodes.push((list = element("ul")));
      list.append(element("li", {}, inline(item[1])));
    } else {
      list = undefined;
      nodes.push(element("p", {}, inline(line)));
    }
  }
  return nodes;
}
