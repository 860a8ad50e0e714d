// Requests to the server. Addresses are relative to this file, so that the page also works under a path.

import { eventsOf } from "./event-stream.js";
import { token } from "./token.js";

const API = new URL("../api/", import.meta.url);

/** A request that was refused or failed. `status` is 0 if there was no answer at all. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/** Gets JSON. */
export async function get(path, options = {}) {
  return (await request(path, options)).json();
}

/** Sends JSON and gets JSON. */
export async function post(path, body, options = {}) {
  return (await request(path, { ...options, method: "POST", body: JSON.stringify(body) })).json();
}

/** Calls a tool. `onProgress` hears what it does; aborting the signal cancels the call. */
export async function callTool(name, body, { signal, onProgress }) {
  const answer = await request(`tools/${encodeURIComponent(name)}/call`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { accept: "text/event-stream" },
    signal,
  });
  try {
    for await (const { event, data } of eventsOf(answer.body)) {
      if (event === "result") return JSON.parse(data);
      if (event === "progress") onProgress(JSON.parse(data));
    }
  } catch (error) {
    // A connection that breaks is a `TypeError`, in other words in every browser.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ApiError(
    "the connection ended before the result came; see Calls for what became of it",
    0,
  );
}

/** The server's events from now on, after one that says that they flow. Ends when the connection does. */
export async function* followEvents() {
  const answer = await request("events", { headers: { accept: "text/event-stream" } });
  yield { event: "open" };
  yield* eventsOf(answer.body);
}

async function request(path, { method = "GET", headers = {}, body, signal } = {}) {
  const sent = { ...headers };
  const known = token();
  if (known !== undefined) sent.authorization = `Bearer ${known}`;
  if (body !== undefined) sent["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(new URL(path, API), {
      method,
      headers: sent,
      body,
      signal,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("the server does not answer; is it still running?", 0);
  }
  if (answer.ok) return answer;
  throw new ApiError(await reasonOf(answer), answer.status);
}

async function reasonOf(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text || `the server answered with status ${answer.status}`;
  }
}
