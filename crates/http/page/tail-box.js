// A box for growing output. It scrolls along while the reader is at the end, and drops old output.

import { element } from "./element.js";

const MOST_CHARACTERS = 200_000;

/** Returns `{ node, add(text) }`. */
export function tailBox(label) {
  const node = element("pre", {
    class: "text-box live",
    tabindex: "0",
    role: "region",
    "aria-label": label,
  });
  const text = document.createTextNode("");
  node.append(text);
  return {
    node,
    add: (piece) => {
      const isAtEnd = node.scrollTop + node.clientHeight >= node.scrollHeight - 4;
      text.appendData(piece);
      if (text.length > MOST_CHARACTERS) text.deleteData(0, text.length - MOST_CHARACTERS / 2);
      if (isAtEnd) node.scrollTop = node.scrollHeight;
    },
  };
}
