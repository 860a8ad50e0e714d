// Small labels. The colour only repeats the meaning of the text.

import { element } from "./element.js";

export function badge(text, tone, attributes = {}) {
  return element("span", { ...attributes, class: ["badge", tone && `tone-${tone}`] }, text);
}

const RISK_TONES = { none: "quiet", low: "good", medium: "warn", high: "bad", critical: "bad" };

export function riskBadge(risk) {
  return badge(risk === "none" ? "no risk" : `${risk} risk`, RISK_TONES[risk]);
}

const ACTIONS = { allow: ["allowed", "good"], ask: ["asks", "warn"], deny: ["denied", "bad"] };

export function actionBadge(action) {
  return badge(...(ACTIONS[action] ?? [action, "quiet"]));
}

const ANSWERS = {
  approved: ["approved", "good"],
  denied: ["denied by a person", "bad"],
  timeout: ["not answered", "quiet"],
  cancelled: ["not answered", "quiet"],
};

/** The decision about a call, or the person's answer if one was asked. */
export function decisionBadge({ action, asked }) {
  return asked === undefined ? actionBadge(action) : badge(...(ANSWERS[asked] ?? [asked, "quiet"]));
}

const STATUS_TONES = {
  running: "accent",
  waiting: "warn",
  succeeded: "good",
  completed: "good",
  failed: "bad",
  refused: "bad",
  cancelled: "quiet",
  stopped: "quiet",
};

export function statusBadge(status) {
  return badge(status, STATUS_TONES[status] ?? "quiet");
}
