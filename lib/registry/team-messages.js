"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { TeamMessageIterator } from "../types/teams"
 */

const { ToolError, shown } = require("../boundary/errors.js");
const { WorkUnderWay } = require("../native/lifetime.js");

/** The session of calls that name none. */
const DEFAULT_SESSION = "default";

/** The messages that members of teams send each other, by the session that they are for. */
class TeamMessages {
  #native;
  /** Counts iterators that wait, and keeps the registry alive for them. */
  #waits = new WorkUnderWay(this);

  /** @param {NativeRegistry} native */
  constructor(native) {
    this.#native = native;
  }

  /**
   * An async iterator over the messages to a session. It ends when the session is shut down in its team,
   * when the registry is closed, and when the signal is aborted.
   *
   * @param {string} sessionId
   * @param {AbortSignal | undefined} [signal]
   * @returns {TeamMessageIterator}
   */
  iterate(sessionId = DEFAULT_SESSION, signal) {
    if (signal !== undefined && typeof signal?.addEventListener !== "function") {
      throw new ToolError(
        "InvalidOptions",
        `\`signal\` must be an AbortSignal, got ${shown(signal)}`,
      );
    }
    const reader = this.#native.readMessages(sessionId);
    const end = () => {
      signal?.removeEventListener("abort", end);
      reader.close();
    };
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
    return {
      next: async () => {
        const json = await this.#waits.during(() => reader.next());
        if (typeof json === "string") return { done: false, value: JSON.parse(json) };
        end();
        return { done: true, value: undefined };
      },
      /** @returns {Promise<IteratorReturnResult<undefined>>} */
      return: async (value = undefined) => {
        end();
        return { done: true, value };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

exports.TeamMessages = TeamMessages;
