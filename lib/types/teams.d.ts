/** A message from another member of a team. */
export type TeamMessage = {
  /** Counts the messages of the team, from 1. */
  readonly number: number;
  /** The name of the team. */
  readonly team: string;
  /** The name of the sender; `team-lead` is the session that made the team. */
  readonly from: string;
} & (
  | {
      /** `message` is for this member alone, `broadcast` for all. */
      readonly type: "message" | "broadcast";
      readonly content: string;
      /** The text in a few words. */
      readonly summary?: string;
    }
  | {
      /** The lead asks this member to end. It answers with `SendMessage`. */
      readonly type: "shutdown_request";
      readonly requestId: string;
      readonly reason?: string;
    }
  | {
      /** A member has answered such a request. */
      readonly type: "shutdown_response";
      readonly requestId: string;
      /** True if the member ends. */
      readonly approve: boolean;
      readonly reason?: string;
    }
);

/** An async iterator over the messages to a session, for `for await`. */
export interface TeamMessageIterator extends AsyncIterable<TeamMessage> {
  /** Waits for the next message. It is done when there can be no more messages. */
  next(): Promise<IteratorResult<TeamMessage, undefined>>;
  /** Ends the iteration; `for await` calls it when the loop is left. */
  return(): Promise<IteratorResult<TeamMessage, undefined>>;
  [Symbol.asyncIterator](): TeamMessageIterator;
}
