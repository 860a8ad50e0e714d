// What the page knows of the registry, and who wants to hear when it changes.

import { get } from "./api.js";

/** As many as the server keeps. */
const MOST_CALLS = 500;
/** More than that are asked for again, because the server has forgotten some. */
const MOST_TASKS = 1_000;
/** How long changes are gathered while nobody sees the page. */
const UNSEEN_PAUSE_MS = 250;

export const state = {
  tools: [],
  calls: new Map(),
  tasks: new Map(),
  confirmations: new Map(),
  /** How requests ended of which we know, by id. */
  outcomes: new Map(),
  /** `connecting`, `open`, `lost` or `refused`. */
  connection: "connecting",
  /** Why it was lost. */
  lostBy: "",
};

const listeners = new Map();
const changed = new Set();

/**
 * Calls a listener once for all changes of a moment. Topics are the keys of `state`. Returns a function that
 * ends it.
 */
export function onChange(topics, listener) {
  for (const topic of topics) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
  return () => topics.forEach((topic) => listeners.get(topic).delete(listener));
}

/** Says that something has changed. */
export function tell(topic) {
  if (changed.size === 0) {
    // Once for each picture that the browser draws, however many events come. It draws none of a hidden page.
    requestAnimationFrame(tellAll);
    setTimeout(tellAll, UNSEEN_PAUSE_MS);
  }
  changed.add(topic);
}

function tellAll() {
  const heard = new Set();
  for (const topic of changed)
    for (const listener of listeners.get(topic) ?? []) heard.add(listener);
  changed.clear();
  for (const listener of heard) listener();
}

export function setConnection(connection, lostBy = "") {
  if (state.connection === connection && state.lostBy === lostBy) return;
  state.connection = connection;
  state.lostBy = lostBy;
  tell("connection");
}

export async function loadTools() {
  state.tools = (await get("tools")).tools;
  tell("tools");
}

/** Asks for every list again: at the start, and when events were missed. */
export async function loadAll() {
  await Promise.all([loadTools(), loadCalls(), loadTasks(), loadConfirmations()]);
}

export async function loadTasks() {
  await load("tasks", ({ id }) => id, heard);
}

/** A task that runs goes on running: its duration is that of the moment when we heard of it. */
const heard = (task) => ({ ...task, heardAt: Date.now() });

async function loadConfirmations() {
  await load("confirmations", ({ id }) => id);
}

async function loadCalls() {
  await load("calls", ({ number }) => number);
}

/** Puts a list of the server in place of what is known, except for what events told while it was on its way. */
async function load(topic, keyOf, taken = (it) => it) {
  const before = new Map(state[topic]);
  const list = (await get(topic))[topic];
  const now = new Map(list.map((it) => [keyOf(it), taken(it)]));
  for (const [key, it] of state[topic]) if (before.get(key) !== it) now.set(key, it);
  if (topic === "confirmations") for (const id of state.outcomes.keys()) now.delete(id);
  state[topic] = now;
  tell(topic);
}

/** Takes in one event of the server. */
export function take({ event, data }) {
  const told = JSON.parse(data);
  if (event === "call") {
    state.calls.set(told.number, told);
    for (const number of state.calls.keys()) {
      if (state.calls.size <= MOST_CALLS) break;
      state.calls.delete(number);
    }
    tell("calls");
  } else if (event === "task") {
    state.tasks.set(told.task.id, heard(told.task));
    if (state.tasks.size > MOST_TASKS) void loadTasks().catch(() => {});
    tell("tasks");
  } else if (event === "confirmation") {
    takeConfirmation(told);
  } else if (event === "tools") {
    void loadTools().catch(() => {});
  } else if (event === "gap") {
    void loadAll().catch(() => {});
  }
}

function takeConfirmation({ type, ...told }) {
  if (type === "request" && told.cut) {
    // A person decides by the whole of it, which the list has.
    void loadConfirmations().catch(() => {});
    return;
  }
  if (type === "request") {
    const askedAt = told.askedAt ?? Date.now();
    state.confirmations.set(told.id, {
      ...told,
      askedAt,
      expiresAt: told.expiresAt ?? askedAt + told.timeout,
    });
  } else {
    settle(told.id, told.outcome);
  }
  tell("confirmations");
}

/** Notes how a request ended. */
export function settle(id, outcome) {
  state.confirmations.delete(id);
  state.outcomes.set(id, outcome);
  if (state.outcomes.size > MOST_CALLS) state.outcomes.delete(state.outcomes.keys().next().value);
  tell("confirmations");
}
