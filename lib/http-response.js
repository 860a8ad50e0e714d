"use strict";

const { ToolError, firstLineOf } = require("./errors.js");

/** Answers that have no body; a `Response` refuses even an empty one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * The addon's answer as a web-standard `Response`.
 *
 * @param exchange what the answer belongs to; its stream keeps it from being collected
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
 * The pieces of a body. Each is asked for when somebody reads it, so that a reader who stalls holds up whoever
 * makes the pieces. A stream that is collected takes its answer along, which ends what it is made from.
 */
function streamOf(answer, exchange) {
  // Between the answer and its stream, the client may have gone.
  if (exchange.signal?.aborted) answer.cancel();
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

/** An answer of the facade's own, in the form of the addon's. */
function refusal(status, type, error) {
  return new Response(JSON.stringify({ error, type }), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

module.exports = { refusal, responseOf };
