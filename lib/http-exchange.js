"use strict";

const { CancelHandle } = require("./native.js");
const { firstLineOf } = require("./errors.js");
const { BodyError, giveUp, readBody } = require("./http-request.js");
const { refusal, responseOf } = require("./http-response.js");

/**
 * One request that a host has handed over, and its answer. It refers to the request for as long as the answer
 * is read, because a runtime forgets to abort the signal of a request that was collected.
 */
class HttpExchange {
  #request;
  #work;
  #handle = new CancelHandle();
  /** The answer, while its body is read. Weak, so that a signal keeps no answer that nobody reads. */
  #answer;
  #abort;

  /** @param work keeps the registry from being collected while the addon works */
  constructor(request, work) {
    this.#request = request;
    this.#work = work;
    this.method = request.method;
    this.signal = request.signal ?? undefined;
  }

  /** Answers the request. A client that goes away, or sends half a body, has an answer too. */
  async answer(service, head) {
    this.#listen();
    try {
      const { body } = this.#request;
      const hasBody = body !== null && body !== undefined;
      const refused = hasBody ? (service.refusal(head) ?? undefined) : undefined;
      if (refused !== undefined) {
        giveUp(body);
        return responseOf(refused, this);
      }
      const bytes = hasBody ? await readBody(body, this.signal) : undefined;
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

  during(work) {
    return this.#work.during(work);
  }

  /** Nothing of the exchange is left to be done. */
  over() {
    this.signal?.removeEventListener("abort", this.#abort);
  }

  #listen() {
    if (this.signal === undefined) return;
    const handle = this.#handle;
    const exchange = new WeakRef(this);
    this.#abort = () => {
      handle.cancel();
      exchange.deref()?.#answer?.deref()?.cancel();
    };
    if (this.signal.aborted) handle.cancel();
    else this.signal.addEventListener("abort", this.#abort, { once: true });
  }
}

module.exports = { HttpExchange };
