// The page's state of the registry, and listeners for its changes.

import { get } from "./api.js";

/** As many calls as the server keeps. */
const MOST_CALLS = 500;
/** With more tasks than this the list is loaded again, because the server has dropped some. */
const MOST_TASKS = 1_000;
/** How long changes are collected while the page is hidden. */
const HIDDEN_PAUSE_MS = 250;

export const state = {
  tools: [],
  calls: new Map(),
  tasks: new Map(),
  confirmations: new Map(),
  /** The outcomes of settled confirmation requests, by id. */
  outcomes: new Map(),
  /** `connecting`, `open`, `lost` or `refused`. */
  connection: "connecting",
  /** Why the connection was lost. */
  lostBy: "",
};

const listeners = new Map();
const changed = new Set();

/**
 * Adds a listener, which is called once per batch of changes. Topics are the keys of `state`. Returns a function
 * that removes it.
 */
export function onChange(topics, listener) {
  for (const topic of topics) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
  return () => topics.forEach((topic) => listeners.get(topic).delete(listener));
}

/** Notes that a topic has changed. Its listeners are called soon. */
function notify(topic) {
  if (changed.size === 0) {
    // At most once per animation frame. A hidden page has no frames, so there is a timer as well.
    requestAnimationFrame(callListeners);
    setTimeout(callListeners, HIDDEN_PAUSE_MS);
  }
  changed.add(topic);
}

function callListeners() {
  const called = new Set();
  for (const topic of changed)
    for (const listener of listeners.get(topic) ?? []) called.add(listener);
  changed.clear();
  for (const listener of called) listener();
}

export function setConnection(connection, lostBy = "") {
  if (state.connection === connection && state.lostBy === lostBy) return;
  state.connection = connection;
  state.lostBy = lostBy;
  notify("connection");
}

export async function loadTools() {
  state.tools = (await get("tools")).tools;
  notify("tools");
}

/** Loads every list: at the start, and when events were missed. */
export async function loadAll() {
  await Promise.all([loadTools(), loadCalls(), loadTasks(), loadConfirmations()]);
}

export async function loadTasks() {
  await load("tasks", ({ id }) => id, withTime);
}

/** Adds the time of receipt, because the duration of a running task is only correct at that time. */
const withTime = (task) => ({ ...task, receivedAt: Date.now() });

async function loadConfirmations() {
  await load("confirmations", ({ id }) => id);
}

async function loadCalls() {
  await load("calls", ({ number }) => number);
}

/** Replaces a list with the server's, except for items that events changed while it was loading. */
async function load(topic, keyOf, taken = (it) => it) {
  const before = new Map(state[topic]);
  const list = (await get(topic))[topic];
  const now = new Map(list.map((it) => [keyOf(it), taken(it)]));
  for (const [key, it] of state[topic]) if (before.get(key) !== it) now.set(key, it);
  if (topic === "confirmations") for (const id of state.outcomes.keys()) now.delete(id);
  state[topic] = now;
  notify(topic);
}

/** Applies one event of the server. */
export function take({ event, data }) {
  const news = JSON.parse(data);
  if (event === "call") {
    state.calls.set(news.number, news);
    for (const number of state.calls.keys()) {
      if (state.calls.size <= MOST_CALLS) break;
      state.calls.delete(number);
    }
    notify("calls");
  } else if (event === "task") {
    state.tasks.set(news.task.id, withTime(news.task));
    if (state.tasks.size > MOST_TASKS) void loadTasks().catch(() => {});
    notify("tasks");
  } else if (event === "confirmation") {
    takeConfirmation(news);
  } else if (event === "tools") {
    void loadTools().catch(() => {});
  } else if (event === "gap") {
    void loadAll().catch(() => {});
  }
}

function takeConfirmation({ type, ...news }) {
  if (type === "request" && news.cut) {
    // The event is truncated. The list has the whole request, which a person needs to decide.
    void loadConfirmations().catch(() => {});
    return;
  }
  if (type === "request") {
    const askedAt = news.askedAt ?? Date.now();
    state.confirmations.set(news.id, {
      ...news,
      askedAt,
      expiresAt: news.expiresAt ?? askedAt + news.timeout,
    });
  } else {
    settle(news.id, news.outcome);
  }
  notify("confirmations");
}

/** Records how a request ended. */
export function settle(id, outcome) {
  state.confirmations.delete(id);
  state.outcomes.set(id, outcome);
  if (state.outcomes.size > MOST_CALLS) state.outcomes.delete(state.outcomes.keys().next().value);
  notify("confirmations");
}
