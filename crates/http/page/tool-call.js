// Calls one tool: its input, its progress and result, and what policy decides.

import { callTool, post } from "./api.js";
import { confirmationCard } from "./confirmation-card.js";
import { statusBadge } from "./badge.js";
import { button, element, fill } from "./element.js";
import { shownDuration } from "./format.js";
import { inputEditor } from "./input-editor.js";
import { inline } from "./prose.js";
import { resultView } from "./result-view.js";
import { onChange, state } from "./state.js";
import { tailBox } from "./tail-box.js";
import { verdictView } from "./verdict-view.js";

/**
 * Browsers allow six connections to a server. The events use one, each call uses one, and the answer to a
 * confirmation needs one too.
 */
const MOST_CALLS = 3;
let underWay = 0;

/** The input of a tool, and the last call with it. */
export function toolCall(tool) {
  const editor = inputEditor(tool.inputSchema);
  const session = element("input", {
    id: "session",
    type: "text",
    autocomplete: "off",
    placeholder: "default",
  });
  const problem = element("p", { class: "problem", role: "alert" });
  const outcome = element("div", { class: "outcome" });
  const run = element("button", { type: "submit", class: "primary", title: "Ctrl+Enter" }, "Call");
  const explain = button("Why? Explain the decision", {}, () => void showVerdict());
  let isRunning = false;
  // Not `disabled`, because that would remove the focus.
  const setRunning = (now) => {
    isRunning = now;
    run.setAttribute("aria-disabled", String(now));
  };

  const body = () => {
    const { value, problem: wrong } = editor.read();
    fill(problem, wrong && inline(wrong));
    if (wrong !== undefined) return undefined;
    const sessionId = session.value.trim();
    return sessionId === "" ? { input: value } : { input: value, sessionId };
  };
  const start = () => {
    const sent = body();
    if (sent === undefined || isRunning) return;
    if (underWay >= MOST_CALLS) {
      fill(problem, `${MOST_CALLS} calls of this page are under way: wait until one ends.`);
      return;
    }
    setRunning(true);
    fill(explained);
    underWay += 1;
    runCall(tool.name, sent, outcome, () => {
      underWay -= 1;
      setRunning(false);
    });
  };
  const showVerdict = async () => {
    const sent = body();
    if (sent === undefined) return;
    try {
      fill(problem);
      const verdict = await post(`tools/${encodeURIComponent(tool.name)}/explain`, sent);
      const title = element("h3", { tabindex: "-1" }, "What policy decides");
      fill(explained, title, verdictView(verdict));
      title.focus();
      explained.scrollIntoView({ block: "nearest" });
    } catch (error) {
      fill(explained);
      fill(problem, inline(error.message));
    }
  };
  const explained = element("section", { class: "explained", "aria-label": "Decision" });
  const node = element(
    "form",
    {
      class: "tool-call",
      on: {
        submit: (event) => {
          event.preventDefault();
          start();
        },
        keydown: (event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            start();
          }
        },
      },
    },
    editor.node,
    element(
      "details",
      { class: "fold" },
      element("summary", {}, "Session"),
      element(
        "label",
        { for: "session" },
        "The session whose grants, files and working directory count",
      ),
      session,
    ),
    problem,
    element("div", { class: "actions" }, run, explain),
  );
  return element("div", { class: "calling" }, node, explained, outcome);
}

/** Runs a call and shows it in `outcome`. */
function runCall(name, body, outcome, onEnd) {
  const toolUseId = `page_${crypto.randomUUID()}`;
  const abort = new AbortController();
  const began = performance.now();
  const status = element("span", { role: "status" }, statusBadge("running"));
  const took = element("span", { class: "dim" });
  const cancel = button("Cancel", { class: "small danger" }, () => abort.abort());
  const steps = element("div", { class: "steps" });
  const output = tailBox("Output so far");
  output.node.hidden = true;
  const question = element("div");
  const head = element(
    "div",
    { class: "outcome-head" },
    element("h3", { tabindex: "-1" }, "Result"),
    status,
    took,
    cancel,
  );
  const live = element("div", {}, question, steps, output.node);
  fill(outcome, head, live);
  outcome.scrollIntoView({ block: "nearest" });

  const tick = setInterval(() => fill(took, shownDuration(performance.now() - began)), 250);
  const asked = () => {
    const waiting = [...state.confirmations.values()].find(
      (it) => it.details?.toolUseId === toolUseId,
    );
    if (waiting === undefined || question.dataset.id === waiting.id) return;
    question.dataset.id = waiting.id;
    fill(question, confirmationCard(waiting));
    question.scrollIntoView({ block: "nearest" });
    fill(status, statusBadge("waiting"));
  };
  const stopListening = onChange(["confirmations"], asked);
  asked();

  const end = (word, ...shown) => {
    clearInterval(tick);
    stopListening();
    fill(took, shownDuration(performance.now() - began));
    fill(status, statusBadge(word));
    cancel.remove();
    fill(outcome, head, shown);
    onEnd();
  };
  const onProgress = (news) => {
    if (news.type === "start") fill(status, statusBadge("running"));
    if (news.type === "output") {
      output.node.hidden = false;
      output.add(news.text);
    }
    if (news.type === "step") fill(steps, stepView(news));
  };
  callTool(name, { ...body, toolUseId }, { signal: abort.signal, onProgress }).then(
    (result) => end(wordOf(result), resultView(result)),
    (error) => {
      if (error.name === "AbortError") {
        end("cancelled", element("p", { class: "note" }, "You cancelled the call."), output.node);
      } else {
        end(
          "failed",
          element("div", { class: "notice tone-bad" }, element("p", {}, inline(error.message))),
        );
      }
    },
  );
}

const REFUSALS = new Set([
  "PolicyDenied",
  "ToolDisabled",
  "ConfirmationDenied",
  "ConfirmationTimeout",
]);

function wordOf({ isError, error }) {
  if (!isError) return "succeeded";
  return REFUSALS.has(error?.type) ? "refused" : "failed";
}

function stepView({ progress, total, message }) {
  return [
    element("progress", { value: progress, max: total, "aria-label": "Progress" }),
    element("span", {}, message ?? (total === undefined ? progress : `${progress} of ${total}`)),
  ];
}
