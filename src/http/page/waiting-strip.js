// Says in every view that something waits for the person, and tells screen readers politely.

import { element, fill } from "./element.js";
import { counted } from "./format.js";
import { onChange, state } from "./state.js";

/** `strip` is shown above the view; `announcer` is a polite live region; `isHidden` says where it is not needed. */
export function waitingStrip(strip, announcer, isHidden) {
  const told = new Set();
  const show = () => {
    const waiting = [...state.confirmations.values()];
    document.title = waiting.length > 0 ? `(${waiting.length}) toolwright` : "toolwright";
    strip.hidden = waiting.length === 0 || isHidden();
    const [first] = waiting;
    if (first) {
      const text = `${counted(waiting.length, "call")} ${waiting.length === 1 ? "waits" : "wait"} for your answer`;
      fill(
        strip,
        element("strong", {}, text),
        element("span", { class: "what" }, shownCall(first.details)),
        element("a", { class: "button primary", href: "#/confirmations" }, "Review"),
      );
    }
    const fresh = waiting.filter(({ id }) => !told.has(id));
    for (const { id } of fresh) told.add(id);
    for (const id of told) if (!state.confirmations.has(id)) told.delete(id);
    if (fresh.length > 0) {
      fill(
        announcer,
        fresh.map(({ details }) => `Asks for confirmation: ${shownCall(details)}. `),
      );
    }
  };
  onChange(["confirmations"], show);
  return show;
}

/** The call in one line. Descriptions mostly begin with the name of the tool. */
function shownCall({ toolName = "A call", description = "too long to be shown here" } = {}) {
  return description.startsWith(toolName) ? description : `${toolName}: ${description}`;
}
