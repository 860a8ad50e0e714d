// Confirmation requests and their answers.

/** What a person is asked to confirm. */
export interface ToolCallConfirmationDetails {
  toolName: string;
  description: string;
  risk: "low" | "medium" | "high";
  locations?: string[] | undefined;
  /** Why a confirmation is needed. This and the fields below are set for requests from a registry. */
  reason?: string | undefined;
  /** The `message` of the rule that asks. */
  message?: string | undefined;
  /** The input of the call, for programs. Show people `description` and `diff`, which hide nothing. */
  input?: Record<string, unknown> | undefined;
  /** What an edit would change. If the file has changed by the time of the approval, it is not written. */
  diff?: string | undefined;
  /** The rules that `alwaysAllow` would add for the session: the narrowest ones for this call. */
  suggestedRules?: string[] | undefined;
  toolUseId?: string | undefined;
  sessionId?: string | undefined;
}

/** A request that waits for an answer. */
export interface ConfirmationRequest<Details = ToolCallConfirmationDetails> {
  /** The answer has to have the same id. */
  id: string;
  details: Details;
  /** How long the request waits, in milliseconds. */
  timeout: number;
}

/**
 * An answer to a request. Only an own property `approved` with the boolean `true` approves; everything else
 * counts as a refusal. The other flags are read in the same way. Each property is read once.
 */
export interface ConfirmationResponse {
  id: string;
  approved: boolean;
  /** With a refusal: the reason, as a text for the model. */
  message?: string | undefined;
  /** Runs the call with this input instead, which is validated and judged again. */
  updatedInput?: Record<string, unknown> | undefined;
  /**
   * Stops asking about calls like this one in this session; with `updatedInput`, about calls like the one
   * that runs. A rule that asks still asks. Nothing is granted if the rule for it would contain invisible
   * characters.
   */
  alwaysAllow?: boolean | undefined;
  /** With a refusal: ends the whole turn instead of this call only. */
  interrupt?: boolean | undefined;
}

/** The event that a request no longer needs an answer. */
export interface ConfirmationSettled {
  id: string;
  outcome: "approved" | "denied" | "timeout" | "cancelled";
}

/**
 * Carries confirmation requests to listeners, and their answers back. A request is refused at once if there is
 * no listener, or if a listener throws.
 */
export declare class MessageBus {
  /**
   * Asks the listeners, and resolves with the answer. Rejects with a `ToolError`: `ConfirmationTimeout`,
   * `Cancelled`, or `PolicyDenied` if there is no listener. Default of `timeout`: 60,000 ms.
   */
  requestConfirmation(
    details: ToolCallConfirmationDetails,
    abortSignal?: AbortSignal,
    timeout?: number,
  ): Promise<boolean>;
  /** Answers a request. Returns `false` if no request waits for it, such as after an earlier answer. */
  respondToConfirmation(response: ConfirmationResponse): boolean;
  /** Ends a request as cancelled. Returns `false` if there is no such request. */
  cancelRequest(id: string): boolean;

  /** Calls a function for every request, or for every request that is settled. */
  on(event: "request", listener: (request: ConfirmationRequest) => void): this;
  on(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** Like `on`, but only for the next event. */
  once(event: "request", listener: (request: ConfirmationRequest) => void): this;
  once(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** Removes a listener that `on` or `once` added. */
  off(event: "request", listener: (request: ConfirmationRequest) => void): this;
  off(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** The number of listeners for an event. */
  listenerCount(event: "request" | "settled"): number;
  /** Removes all listeners for one event, or for both. */
  removeAllListeners(event?: "request" | "settled"): this;
}
