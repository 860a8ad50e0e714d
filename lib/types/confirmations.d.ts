// What a person is asked, and the answer.

/** What a person is asked. */
export interface ToolCallConfirmationDetails {
  toolName: string;
  description: string;
  risk: "low" | "medium" | "high";
  locations?: string[] | undefined;
  /** Why somebody has to agree. Set, like what follows, when the request comes from a registry. */
  reason?: string | undefined;
  /** The words of the rule that asks. */
  message?: string | undefined;
  /** What the call is about to be given, as data: show `description` and `diff`, which hide nothing. */
  input?: Record<string, unknown> | undefined;
  /** What an edit would change. A yes is for this change: a file that holds something else by then is left. */
  diff?: string | undefined;
  /** What `alwaysAllow` would add for the session: the narrowest rules for this call. */
  suggestedRules?: string[] | undefined;
  toolUseId?: string | undefined;
  sessionId?: string | undefined;
}

/** A request that waits for an answer. */
export interface ConfirmationRequest<Details = ToolCallConfirmationDetails> {
  /** What the answer has to name. */
  id: string;
  details: Details;
  /** How long it waits, in milliseconds. */
  timeout: number;
}

/**
 * An answer to a request. Anything but an own property `approved` that is the boolean `true` is a no; the
 * same goes for the other flags. Each property is read once.
 */
export interface ConfirmationResponse {
  id: string;
  approved: boolean;
  /** Why not, in words for the model. */
  message?: string | undefined;
  /** Run with this input instead; it is validated and judged like any other. */
  updatedInput?: Record<string, unknown> | undefined;
  /**
   * Do not ask again for calls like this one in this session; with `updatedInput`, for calls like the one
   * that runs. Where a rule asks, it goes on asking; where no rule can be written visibly, nothing is
   * granted.
   */
  alwaysAllow?: boolean | undefined;
  /** With a no: stop the whole turn, not this call alone. */
  interrupt?: boolean | undefined;
}

/** Tells that a request needs no answer any more. */
export interface ConfirmationSettled {
  id: string;
  outcome: "approved" | "denied" | "timeout" | "cancelled";
}
