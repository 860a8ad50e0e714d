// The card of one confirmation request: what the call would do, and the buttons to answer.

import { post } from "./api.js";
import { badge, riskBadge } from "./badge.js";
import { diffView } from "./diff-view.js";
import { button, element, fill } from "./element.js";
import { inline } from "./prose.js";
import { onChange, settle, state } from "./state.js";

/** A card can appear under a pointer that is about to click something else, so approval is delayed. */
const PAUSE_BEFORE_YES_MS = 600;

const OUTCOMES = {
  approved: ["Approved", "good"],
  denied: ["Denied", "bad"],
  timeout: ["Not answered in time", "quiet"],
  cancelled: ["The call was cancelled", "quiet"],
};

/** The card of a request. Once the request is settled, the card shows only the outcome. */
export function confirmationCard({ id, details = {}, expiresAt, cut = false }) {
  const title = `${id}-title`;
  const left = element("span", { class: "dim" });
  const problem = element("p", { class: "problem", role: "alert" });
  const reason = element("input", {
    type: "text",
    placeholder: "Reason for a no (the model reads it)",
    "aria-label": "Reason for a no",
  });
  const always = element("input", { type: "checkbox" });
  const interrupt = element("input", { type: "checkbox" });
  // A truncated input must not replace the full one.
  const edited = inputEditorOf(cut ? undefined : details.input);
  const approve = button("Approve", { class: "primary", "aria-disabled": "true" }, () => {
    if (mayApprove) void answer(true);
  });
  const deny = button("Deny", { class: "danger" }, () => void answer(false));
  let mayApprove = false;
  let isAnswering = false;
  setTimeout(() => {
    mayApprove = true;
    approve.removeAttribute("aria-disabled");
  }, PAUSE_BEFORE_YES_MS);

  const answer = async (approved) => {
    if (isAnswering) return;
    const body = { approved };
    if (approved) {
      const { value, problem: wrong } = edited.read();
      if (wrong !== undefined) return fill(problem, wrong);
      if (value !== undefined) body.updatedInput = value;
      if (always.checked) body.alwaysAllow = true;
    } else {
      if (reason.value.trim() !== "") body.message = reason.value.trim();
      if (interrupt.checked) body.interrupt = true;
    }
    isAnswering = true;
    try {
      await post(`confirmations/${encodeURIComponent(id)}`, body);
      settle(id, approved ? "approved" : "denied");
    } catch (error) {
      fill(problem, inline(error.message));
      if (error.status === 404) settle(id, state.outcomes.get(id) ?? "cancelled");
    }
    isAnswering = false;
  };

  const answers = element(
    "div",
    { class: "answers" },
    edited.node,
    details.suggestedRules?.length > 0 &&
      element(
        "label",
        { class: "check" },
        always,
        element(
          "span",
          {},
          "Always allow in this session: ",
          details.suggestedRules.flatMap((rule, index) => [
            index > 0 && ", ",
            element("code", {}, rule),
          ]),
        ),
      ),
    element(
      "div",
      { class: "denial" },
      reason,
      element(
        "label",
        { class: "check" },
        interrupt,
        element("span", {}, "A no ends the whole turn"),
      ),
    ),
    problem,
    element("div", { class: "actions" }, approve, deny),
  );
  const card = element(
    "article",
    { class: "card confirmation", "aria-labelledby": title },
    element(
      "header",
      {},
      element(
        "h3",
        { id: title, tabindex: "-1" },
        element("span", { class: "mono" }, details.toolName),
        " asks",
      ),
      riskBadge(details.risk ?? "none"),
      left,
    ),
    element("p", { class: "what" }, details.description),
    details.message && element("p", { class: "notice" }, details.message),
    cut && element("p", { class: "notice" }, "This call is too long to be shown whole."),
    details.diff && diffView(details.diff),
    facts(details),
    answers,
  );
  const watch = () => {
    if (state.confirmations.has(id)) {
      fill(left, remaining(expiresAt));
      return;
    }
    clearInterval(tick);
    stopListening();
    const [words, tone] = OUTCOMES[state.outcomes.get(id)] ?? ["No longer waits", "quiet"];
    card.classList.add("settled");
    fill(left);
    // If the focus was on a button that is removed, it moves to the card.
    const hadFocus = answers.contains(document.activeElement);
    fill(answers, badge(words, tone));
    if (hadFocus) card.querySelector("h3").focus();
  };
  const tick = setInterval(watch, 1000);
  const stopListening = onChange(["confirmations"], watch);
  watch();
  return card;
}

function remaining(expiresAt) {
  const seconds = Math.max(0, Math.round((expiresAt - Date.now()) / 1000));
  return seconds > 90 ? `${Math.round(seconds / 60)} min left` : `${seconds} s left`;
}

function facts({ reason, locations = [], sessionId }) {
  const rows = [
    ["Why", reason && inline(reason)],
    [
      "Touches",
      locations.length > 0 && locations.map((it) => element("code", { class: "block" }, it)),
    ],
    ["Session", sessionId && element("code", {}, sessionId)],
  ].filter(([, value]) => value);
  return element(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
}

/** A collapsed editor of the input as JSON. `read()` returns a value only if it was changed. */
function inputEditorOf(input) {
  if (input === undefined) return { node: undefined, read: () => ({}) };
  const before = JSON.stringify(input, null, 2);
  const text = element("textarea", {
    class: "mono",
    rows: Math.min(12, before.split("\n").length),
    spellcheck: "false",
    "aria-label": "The input of the call as JSON",
    value: before,
  });
  return {
    node: element(
      "details",
      { class: "fold" },
      element("summary", {}, "See or edit the input"),
      text,
    ),
    read: () => {
      if (text.value === before) return {};
      try {
        const value = JSON.parse(text.value);
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        return isObject ? { value } : { problem: "The edited input has to be a JSON object." };
      } catch (error) {
        return { problem: `The edited input is not JSON: ${error.message}` };
      }
    },
  };
}
