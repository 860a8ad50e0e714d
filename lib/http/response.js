"use strict";

/**
 * @import { NativeHttpAnswer } from "../../native/binding"
 * @import { HttpExchange } from "./exchange.js"
 */

const { ToolError, firstLineOf } = require("../boundary/errors.js");

/** Answers that have no body; a `Response` refuses even an empty one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * The addon's answer as a web-standard `Response`.
 *
 * @param {NativeHttpAnswer} answer
 * @param {HttpExchange} exchange what the answer belongs to; its stream keeps it from being collected
 */
function responseOf(answer, exchange) {
  const { status, headers, isWhole } = JSON.parse(answer.head());
  const hasBody = exchange.method !== "HEAD" && !WITHOUT_BODY.has(status);
  if (!hasBody || isWhole) {
    const body = hasBody ? answer.whole() : null;
    answer.cancel();
    exchange.over();
    return new Response(body, { status, headers });
  }
  return new Response(streamOf(answer, exchange), { status, headers });
}

/**
 * The body as a stream of pieces. The addon makes the next piece when the stream is read, so a slow reader
 * slows the addon down. When the stream is garbage-collected, so is its answer, which ends the call.
 *
 * @param {NativeHttpAnswer} answer
 * @param {HttpExchange} exchange
 */
function streamOf(answer, exchange) {
  // The client may have disconnected between the answer and its stream.
  if (exchange.signal?.aborted) answer.cancel();
  /** @type {import("node:stream/web").UnderlyingSource<Uint8Array>} */
  const source = {
    async pull(controller) {
      let piece;
      try {
        piece = await exchange.during(() => answer.read());
      } catch (error) {
        exchange.over();
        throw new ToolError("InternalError", firstLineOf(error), { cause: error });
      }
      // Bun says `undefined` where Node says `null`.
      if (piece !== null && piece !== undefined) return controller.enqueue(piece);
      exchange.over();
      if (exchange.signal?.aborted) controller.error(exchange.signal.reason);
      else controller.close();
    },
    cancel() {
      answer.cancel();
      exchange.over();
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/**
 * An answer that the facade makes itself, in the form of the addon's answers.
 *
 * @param {number} status
 * @param {string} type
 * @param {string} error
 */
function refusal(status, type, error) {
  return new Response(JSON.stringify({ error, type }), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    },
  });
}

module.exports = { refusal, responseOf };
