// Explains the decision of policy about a call.

import { actionBadge, riskBadge } from "./badge.js";
import { element } from "./element.js";
import { inline } from "./prose.js";
import { rulesToPaste } from "./rules-to-paste.js";

const BASES = {
  default: "No rule applies, so the default decides: a rule can change it.",
  doubt: "It is not clear what the command line would run, so policy is careful.",
  rule: "A rule decides.",
  "possible-rule": "A rule may apply, and cannot be ruled out.",
  "protected-place": "The call touches a protected place, such as the policy itself.",
  mode: "The permission mode decides.",
};

/** The answer of `explain`. */
export function verdictView(verdict) {
  const { action, reason, basis, rule, risk, message, parts = [], suggestedRules = [] } = verdict;
  return element(
    "div",
    { class: "verdict" },
    element(
      "p",
      { class: "verdict-head" },
      actionBadge(action),
      riskBadge(risk),
      element("span", {}, inline(reason)),
    ),
    element("p", { class: "dim" }, BASES[basis] ?? basis),
    rule && element("p", {}, "The rule ", ruleText(rule)),
    message && element("p", {}, "It says: ", message),
    parts.length > 0 &&
      element(
        "ul",
        { class: "parts", "aria-label": "The parts of the call" },
        parts.map((part) =>
          element(
            "li",
            {},
            actionBadge(part.action),
            element("code", {}, part.part),
            element("span", { class: "dim" }, inline(part.reason)),
            part.rule && element("span", {}, "by ", ruleText(part.rule)),
          ),
        ),
      ),
    suggestedRules.length > 0 && rulesToPaste(suggestedRules),
  );
}

function ruleText({ text, layer, place, action }) {
  return [
    element("code", {}, `${action} ${text}`),
    element("span", { class: "dim" }, ` (${layer}, ${place})`),
  ];
}
