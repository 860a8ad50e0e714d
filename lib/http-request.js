"use strict";

const { ToolError, firstLineOf, shown } = require("./errors.js");

/** The limit of the addon on bodies. What is longer is not read further: the addon refuses it by its length. */
const MAX_BODY = 8 * 1024 * 1024;

/** The first block for a body in several pieces. */
const MIN_BLOCK = 16 * 1024;

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

/** A body that cannot be read to its end. */
class BodyError extends Error {}

/**
 * Reads a body, up to one byte more than its limit, and ends when the signal is aborted. Throws a BodyError if
 * the body cannot be read.
 */
async function readBody(body, signal) {
  const reader = body.getReader();
  const stop = () => giveUp(reader);
  // A signal that was aborted before says nothing any more.
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop, { once: true });
  try {
    return await readAll(reader);
  } catch (error) {
    throw new BodyError(`the body could not be read: ${firstLineOf(error)}`, { cause: error });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

async function readAll(reader) {
  // One block that grows: a list of pieces could have millions of them, each far larger than its one byte.
  let bytes = Buffer.alloc(0);
  let size = 0;
  while (size <= MAX_BODY) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, size);
    const piece = bytesOf(value).subarray(0, MAX_BODY + 1 - size);
    // Most bodies are one piece.
    if (size === 0) bytes = piece;
    else if (size + piece.length > bytes.length) bytes = grown(bytes, size, piece.length);
    if (size > 0) bytes.set(piece, size);
    size += piece.length;
  }
  giveUp(reader);
  return bytes.subarray(0, size);
}

function grown(bytes, size, more) {
  const larger = Buffer.alloc(Math.max(2 * size, size + more, MIN_BLOCK));
  larger.set(bytes.subarray(0, size));
  return larger;
}

/** The bytes of a view. Not `instanceof`: a runner of tests may have arrays of another realm. */
function bytesOf(view) {
  if (ArrayBuffer.isView(view)) return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  throw new Error(`it gave ${shown(view)} instead of bytes`);
}

/** Lets the sender know that nobody reads on. Not awaited: it may take long to stop, or never do it. */
function giveUp(bodyOrReader) {
  bodyOrReader.cancel().catch(() => {});
}

module.exports = { BodyError, checkBody, encodeHead, giveUp, readBody };
