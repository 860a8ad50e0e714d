// The entry point of the page: chooses the view by the URL, keeps the connection, and handles the keyboard.

import { callsView } from "./calls-view.js";
import { confirmationsView } from "./confirmations-view.js";
import { stayConnected, tryNow } from "./connection.js";
import { button, element, fill } from "./element.js";
import { askForToken } from "./entrance.js";
import { onChange, setConnection, state } from "./state.js";
import { tasksView } from "./tasks-view.js";
import { takeToken } from "./token.js";
import { toolsView } from "./tools-view.js";
import { waitingStrip } from "./waiting-strip.js";

const VIEWS = {
  tools: toolsView,
  confirmations: confirmationsView,
  tasks: tasksView,
  calls: callsView,
};

const byId = (id) => document.getElementById(id);
const main = byId("main");
let current;

/** The view and its subject, from a URL fragment such as `#/tools/Read`. */
function route() {
  const [, view = "tools", rest] = /^#\/([a-z]+)(?:\/(.*))?$/.exec(location.hash) ?? [];
  return {
    view: view in VIEWS ? view : "tools",
    what: rest === undefined ? undefined : decoded(rest),
  };
}

/** People type and truncate URLs, so a fragment with invalid encoding is used undecoded. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go() {
  if (state.connection === "refused") return;
  const { view, what } = route();
  const isNew = current?.name !== view;
  if (isNew) {
    current?.view.stop();
    main.className = `view-${view}`;
    current = { name: view, view: VIEWS[view](main) };
  }
  current.view.show(what);
  for (const link of byId("views").querySelectorAll("a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  showStrip();
}

/** After a navigation, moves the focus to the new view or tool, where screen readers continue. */
function goAndFocus() {
  // A new token means another server or session, so the page starts again.
  if (takeToken()) return location.reload();
  go();
  const target = route().what === undefined ? main : main.querySelector(".tool-head h2");
  target?.focus({ preventScroll: target === main });
}

const showStrip = waitingStrip(
  byId("waiting"),
  byId("announcer"),
  () => route().view === "confirmations",
);

function showConnection() {
  const words = {
    connecting: "connecting",
    open: "connected",
    lost: "connection lost",
    refused: "not let in",
  };
  fill(byId("connection"), words[state.connection]);
  byId("connection").dataset.state = state.connection;
  const lost = byId("lost");
  lost.hidden = state.connection !== "lost";
  byId("views").hidden = state.connection === "refused";
  if (lost.hidden) return;
  fill(
    lost,
    element(
      "span",
      {},
      `${state.lostBy} What you see may be out of date; the page tries to connect again.`,
    ),
    button("Try now", { class: "small" }, tryNow),
  );
}

function showCounts() {
  const running = [...state.tasks.values()].filter((task) => task.state === "running").length;
  for (const [view, count] of [
    ["confirmations", state.confirmations.size],
    ["tasks", running],
  ]) {
    const shown = byId("views").querySelector(`[data-view=${view}] .count`);
    fill(shown, count > 0 && count);
    shown.hidden = count === 0;
  }
}

function onKey(event) {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]") !== null;
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    if (route().view !== "tools" || route().what !== undefined) {
      history.pushState(null, "", "#/tools");
      go();
    }
    byId("search")?.focus();
  } else if (event.key === "Escape" && state.connection !== "refused") {
    if (event.target.id === "search" && event.target.value !== "") return;
    if (isTyping) event.target.blur();
    else if (route().what !== undefined) location.hash = "#/tools";
  }
}

takeToken();
// The link must not change the URL fragment, which selects the view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
onChange(["connection"], showConnection);
onChange(["tasks", "confirmations"], showCounts);
addEventListener("hashchange", goAndFocus);
addEventListener("keydown", onKey);
showConnection();
go();
for (;;) {
  const refusal = await stayConnected();
  current?.view.stop();
  current = undefined;
  main.className = "";
  state.confirmations.clear();
  showStrip();
  setConnection("refused");
  await askForToken(main, refusal);
  setConnection("connecting");
  go();
}
