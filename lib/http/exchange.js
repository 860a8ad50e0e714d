"use strict";

/**
 * @import { NativeHttpAnswer, NativeHttpService } from "../../native/binding"
 * @import { WorkUnderWay } from "../native/lifetime.js"
 */

const { CancelHandle } = require("../native/addon.js");
const { firstLineOf } = require("../boundary/errors.js");
const { BodyError, giveUp, readBody } = require("./request.js");
const { refusal, responseOf } = require("./response.js");

/**
 * One request that a host has handed over, and its answer. It refers to the request for as long as the answer
 * is read, because a runtime does not abort the signal of a request that was garbage-collected.
 */
class HttpExchange {
  #request;
  #work;
  #handle = new CancelHandle();
  /**
   * The answer, while its body is read. Weak, so that a signal keeps no answer that is not read.
   *
   * @type {WeakRef<NativeHttpAnswer> | undefined}
   */
  #answer;
  /** @type {() => void} */
  #abort = () => {};

  /**
   * @param {Request} request
   * @param {WorkUnderWay} work keeps the registry from being collected while the addon works
   */
  constructor(request, work) {
    this.#request = request;
    this.#work = work;
    this.method = request.method;
    this.signal = request.signal ?? undefined;
  }

  /**
   * Answers the request, also if the client disconnects or sends half a body.
   *
   * @param {NativeHttpService} service
   * @param {string} head
   * @returns {Promise<Response>}
   */
  async answer(service, head) {
    this.#listen();
    try {
      const { body } = this.#request;
      /** @type {Uint8Array | undefined} */
      let bytes;
      if (body !== null && body !== undefined) {
        const refused = service.refusal(head) ?? undefined;
        if (refused !== undefined) {
          giveUp(body);
          return responseOf(refused, this);
        }
        bytes = await readBody(body, this.signal);
      }
      const answer = await this.during(() => service.answer(head, bytes, this.#handle));
      this.#answer = new WeakRef(answer);
      return responseOf(answer, this);
    } catch (error) {
      this.#handle.cancel();
      this.over();
      if (this.signal?.aborted) return refusal(499, "Cancelled", "the client has gone");
      if (error instanceof BodyError) return refusal(400, "InvalidBody", error.message);
      return refusal(500, "InternalError", firstLineOf(error));
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   */
  during(work) {
    return this.#work.during(work);
  }

  /** Ends the exchange: the signal of the request no longer matters. */
  over() {
    this.signal?.removeEventListener("abort", this.#abort);
  }

  #listen() {
    if (this.signal === undefined) return;
    const handle = this.#handle;
    const reference = new WeakRef(this);
    this.#abort = () => {
      handle.cancel();
      const exchange = reference.deref();
      if (exchange !== undefined) exchange.#answer?.deref()?.cancel();
    };
    if (this.signal.aborted) handle.cancel();
    else this.signal.addEventListener("abort", this.#abort, { once: true });
  }
}

exports.HttpExchange = HttpExchange;
