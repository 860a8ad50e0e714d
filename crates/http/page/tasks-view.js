// The view of background tasks: live output, and a button that stops one.

import { get, post } from "./api.js";
import { statusBadge } from "./badge.js";
import { button, element, fill, fillByKey } from "./element.js";
import { shownBytes, shownDay, shownDuration } from "./format.js";
import { inline } from "./prose.js";
import { loadTasks, onChange, state } from "./state.js";
import { tailBox } from "./tail-box.js";

const OUTPUT_EVERY_MS = 500;

export function tasksView(node) {
  const cards = element("div", { class: "cards" });
  const empty = element(
    "p",
    { class: "empty" },
    "No tasks. A command with ",
    element("code", {}, "run_in_background"),
    " or an agent in the background appears here.",
  );
  fill(node, element("h1", {}, "Tasks"), cards, empty);
  const shown = new Map();
  const show = () => {
    // Running tasks come first, then the newest.
    const tasks = [...state.tasks.values()].sort(
      (a, b) => (b.state === "running") - (a.state === "running") || b.startedAt - a.startedAt,
    );
    fillByKey(cards, tasks, {
      key: keyOf,
      create: (task) => {
        const card = taskCard(task);
        shown.set(keyOf(task), card);
        return card.node;
      },
      update: (task) => shown.get(keyOf(task)).update(task),
    });
    const present = new Set(tasks.map(keyOf));
    for (const [key, card] of shown) {
      if (present.has(key)) continue;
      card.stop();
      shown.delete(key);
    }
    empty.hidden = tasks.length > 0;
  };
  const stopListening = onChange(["tasks"], show);
  show();
  return {
    show: () => {},
    stop: () => {
      stopListening();
      for (const card of shown.values()) card.stop();
    },
  };
}

/** A restarted server reuses ids, so the id alone is not unique. */
const keyOf = ({ id, startedAt }) => `${id} ${startedAt}`;

function taskCard(first) {
  let task = first;
  const { id, command, description } = task;
  const status = element("span");
  const numbers = element("span", { class: "dim" });
  const problem = element("p", { class: "problem", role: "alert" });
  const output = liveOutput(id, () => task.state === "running");
  const fold = element("details", { class: "fold" }, element("summary", {}, "Output"), output.node);
  fold.addEventListener("toggle", () => (fold.open ? output.start() : output.stop()));
  const stop = button(
    "Stop",
    { class: "small danger", "aria-label": `Stop the task ${id}` },
    async () => {
      stop.disabled = true;
      try {
        await post(`tasks/${encodeURIComponent(id)}/stop`, {});
        await loadTasks();
      } catch (error) {
        fill(problem, inline(error.message));
        stop.disabled = false;
      }
    },
  );
  const node = element(
    "article",
    { class: "card task", "aria-label": `Task ${id}` },
    element(
      "header",
      {},
      element("h2", { class: "mono", tabindex: "-1" }, id),
      status,
      numbers,
      stop,
    ),
    description && element("p", {}, description),
    element(
      "pre",
      { class: "command", tabindex: "0", role: "region", "aria-label": "Command" },
      command,
    ),
    problem,
    fold,
  );
  const show = () => {
    const isRunning = task.state === "running";
    const ran = task.durationMs + (isRunning ? Date.now() - task.receivedAt : 0);
    const end =
      task.signal ?? (task.exitCode === undefined ? undefined : `exit code ${task.exitCode}`);
    const facts = [
      end,
      shownDuration(ran),
      shownBytes(output.size() ?? task.outputBytes),
      `since ${shownDay(task.startedAt)}`,
    ];
    fill(numbers, facts.filter(Boolean).join(" · "));
    if (!isRunning && document.activeElement === stop) node.querySelector("h2").focus();
    stop.hidden = !isRunning;
    if (!isRunning) clearInterval(tick);
  };
  const tick = setInterval(show, 1000);
  fill(status, statusBadge(task.state));
  show();
  if (task.state === "running") fold.open = true;
  return {
    node,
    update: (now) => {
      if (now.state !== task.state) fill(status, statusBadge(now.state));
      task = now;
      show();
    },
    stop: () => {
      clearInterval(tick);
      output.stop();
    },
  };
}

/** Polls the output from the last offset while it is shown and the task may write more. */
function liveOutput(id, isRunning) {
  const box = tailBox(`Output of ${id}`);
  let offset = 0;
  let timer;
  let isOn = false;
  const next = async () => {
    try {
      // Read before the request. So the last request is made after the task has ended, and gets all output.
      const mayGrow = isRunning();
      const {
        text,
        nextOffset,
        offset: from,
      } = await get(`tasks/${encodeURIComponent(id)}/output?offset=${offset}`);
      if (!isOn) return;
      const hasMore = nextOffset > offset;
      if (from > offset) box.add(`[${shownBytes(from - offset)} were not kept]\n`);
      offset = nextOffset;
      if (text !== "") box.add(text);
      if (hasMore) timer = setTimeout(next, 0);
      else if (mayGrow) timer = setTimeout(next, OUTPUT_EVERY_MS);
    } catch {
      // The connection state shows the problem. The server may come back, so try again.
      if (isOn) timer = setTimeout(next, OUTPUT_EVERY_MS * 4);
    }
  };
  return {
    node: box.node,
    size: () => (offset === 0 ? undefined : offset),
    start: () => {
      if (isOn) return;
      isOn = true;
      void next();
    },
    stop: () => {
      isOn = false;
      clearTimeout(timer);
    },
  };
}
