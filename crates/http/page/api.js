// Requests to the server. URLs are relative to this file, so that the page also works under a sub-path.

import { eventsOf } from "./event-stream.js";
import { token } from "./token.js";

const API = new URL("../api/", import.meta.url);

/** A request that was refused or failed. `status` is 0 if there was no answer. */
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

/** Calls a tool. `onProgress` receives its progress; aborting the signal cancels the call. */
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
    // Browsers report a broken connection as a `TypeError`, each with a different message.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ApiError(
    "the connection ended before the result arrived; see Calls for the outcome",
    0,
  );
}

/** Yields an `open` event once connected, then the server's events. Ends when the connection ends. */
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
