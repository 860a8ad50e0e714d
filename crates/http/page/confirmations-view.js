// The view of waiting confirmation requests. Settled requests stay until the view is left, so that no card
// moves under a pointer that is about to click.

import { confirmationCard } from "./confirmation-card.js";
import { element, fill, fillByKey } from "./element.js";
import { onChange, state } from "./state.js";

const MOST_CARDS = 100;

export function confirmationsView(node) {
  const cards = element("div", { class: "cards" });
  const empty = element(
    "p",
    { class: "empty" },
    "Nothing waits for you. Calls that policy asks about appear here, in every view, and in the title of the page.",
  );
  fill(node, element("h1", {}, "Confirmations"), cards, empty);
  const seen = new Map();
  const show = () => {
    for (const [id, request] of state.confirmations) seen.set(id, request);
    for (const id of seen.keys()) {
      if (seen.size <= MOST_CARDS) break;
      if (!state.confirmations.has(id)) seen.delete(id);
    }
    fillByKey(cards, [...seen.values()], { key: ({ id }) => id, create: confirmationCard });
    empty.hidden = seen.size > 0;
  };
  const stop = onChange(["confirmations"], show);
  show();
  return { show: () => {}, stop };
}
