"use strict";

const { ToolError, firstLineOf, shown } = require("../boundary/errors.js");

/** The addon's limit on bodies. A longer body is not read to its end: the addon refuses it by its length. */
const MAX_BODY = 8 * 1024 * 1024;

/** The first block for a body in several pieces. */
const MIN_BLOCK = 16 * 1024;

/**
 * The head of a web-standard request, as JSON. The request may be of a framework's or package's own class.
 *
 * @param {Request} request
 * @param {string} basePath
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

/** @param {{ method?: unknown, url?: unknown, headers?: unknown }} request */
function hasHead({ method, url, headers }) {
  return (
    typeof method === "string" &&
    typeof url === "string" &&
    typeof (
      /** @type {Partial<Iterable<unknown>> | null | undefined} */ (headers)?.[Symbol.iterator]
    ) === "function"
  );
}

/**
 * Throws unless the body can be read. A host that has read it has to hand over a copy.
 *
 * @param {Request} request
 */
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
 *
 * @param {ReadableStream<unknown>} body
 * @param {AbortSignal | undefined} signal
 */
async function readBody(body, signal) {
  const reader = body.getReader();
  const stop = () => giveUp(reader);
  // A signal that is already aborted emits no event.
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

/** @param {ReadableStreamDefaultReader<unknown>} reader */
async function readAll(reader) {
  // One growing block instead of a list of pieces: millions of one-byte pieces would take far more memory.
  /** @type {Buffer} */
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

/**
 * @param {Buffer} bytes
 * @param {number} size
 * @param {number} more
 */
function grown(bytes, size, more) {
  const larger = Buffer.alloc(Math.max(2 * size, size + more, MIN_BLOCK));
  larger.set(bytes.subarray(0, size));
  return larger;
}

/**
 * The bytes of a view. Not checked by `instanceof`: the array may be of another realm.
 *
 * @param {unknown} view
 */
function bytesOf(view) {
  if (ArrayBuffer.isView(view)) return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  throw new Error(`it gave ${shown(view)} instead of bytes`);
}

/**
 * Cancels a body that is not read to its end. Not awaited: the sender may take long to stop, or never do it.
 *
 * @param {{ cancel(): Promise<void> }} bodyOrReader
 */
function giveUp(bodyOrReader) {
  bodyOrReader.cancel().catch(() => {});
}

exports.BodyError = BodyError;
exports.checkBody = checkBody;
exports.encodeHead = encodeHead;
exports.giveUp = giveUp;
exports.readBody = readBody;
