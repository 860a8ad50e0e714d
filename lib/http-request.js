"use strict";

const { ToolError, shown } = require("./errors.js");

/** The limit of the addon on bodies. What is longer is not read further: the addon refuses it by its length. */
const MAX_BODY = 8 * 1024 * 1024;

/**
 * The head of a web-standard request, as JSON. A request of another class than the runtime's, of a framework or
 * of a package, is one as well.
 */
function encodeHead(request, basePath) {
  if (request === null || typeof request !== "object" || !hasHead(request)) {
    throw new ToolError(
      "InvalidOptions",
      `fetch() takes a web-standard Request, got ${shown(request)}; make one with new Request(url)`,
    );
  }
  const { method, url, headers } = request;
  return JSON.stringify({ method, url, headers: [...headers], basePath });
}

function hasHead({ method, url, headers }) {
  return (
    typeof method === "string" &&
    typeof url === "string" &&
    typeof headers?.[Symbol.iterator] === "function"
  );
}

/** Throws unless the body can be read; somebody who has read it has to hand over a copy. */
function checkBody({ body, bodyUsed }) {
  if (body === null || body === undefined) return;
  if (bodyUsed === true || body.locked === true) {
    throw new ToolError(
      "InvalidOptions",
      "the body of the request was read already; call fetch() before anything reads it, or with request.clone()",
    );
  }
  if (typeof body.getReader !== "function") {
    throw new ToolError(
      "InvalidOptions",
      `the body of a request must be a ReadableStream, got ${shown(body)}`,
    );
  }
}

/** Reads a body, up to one byte more than its limit. Throws what the stream throws. */
async function readBody({ body }) {
  if (body === null || body === undefined) return undefined;
  const reader = body.getReader();
  const pieces = [];
  let left = MAX_BODY + 1;
  while (left > 0) {
    const { done, value } = await reader.read();
    if (done) return joined(pieces);
    if (!(value instanceof Uint8Array)) throw new TypeError(`a body is bytes, got ${shown(value)}`);
    pieces.push(value.subarray(0, left));
    left -= value.byteLength;
  }
  // Not awaited: whoever sends the body may take long to stop, or never do it.
  reader.cancel().catch(() => {});
  return joined(pieces);
}

function joined(pieces) {
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
}

module.exports = { checkBody, encodeHead, readBody };
