// Shows in every view that requests wait for an answer, and announces new ones to screen readers.

import { element, fill } from "./element.js";
import { counted } from "./format.js";
import { onChange, state } from "./state.js";

/** `strip` is above the view; `announcer` is a polite live region; `isHidden()` is true where no strip is needed. */
export function waitingStrip(strip, announcer, isHidden) {
  const announced = new Set();
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
    const fresh = waiting.filter(({ id }) => !announced.has(id));
    for (const { id } of fresh) announced.add(id);
    for (const id of announced) if (!state.confirmations.has(id)) announced.delete(id);
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

/** The call in one line. Most descriptions already begin with the name of the tool. */
function shownCall({ toolName = "A call", description = "too long to be shown here" } = {}) {
  return description.startsWith(toolName) ? description : `${toolName}: ${description}`;
}
