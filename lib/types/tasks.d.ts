// Background tasks and their events.

/** A command or an agent that runs, or ran, in the background. */
export interface TaskInfo {
  readonly id: string;
  /** What runs: a command, or an agent of the tool `Agent`. */
  readonly kind: "command" | "agent";
  /** The id of the agent. */
  readonly agentId?: string;
  /** The command line, or the prompt of the agent. */
  readonly command: string;
  readonly description?: string;
  /** The session that started the task. */
  readonly sessionId: string;
  readonly state: "running" | "completed" | "failed" | "stopped";
  readonly exitCode?: number;
  /** The signal that killed the shell, such as `SIGKILL`. */
  readonly signal?: string;
  /** In milliseconds since 1970, like `Date.now()`. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outputBytes: number;
  /** The file with the output. It is removed when the registry forgets the task or is closed. */
  readonly outputFile?: string;
  /** True if every process that the task starts ends with it, even if this process is killed. */
  readonly contained: boolean;
  /** Why that is not guaranteed: the supervisor is missing, or has failed. */
  readonly notContained?: string;
}

/** The start or the end of a task. */
export interface TaskEvent {
  /** The number of the event, counted from 1. */
  readonly sequence: number;
  readonly type: "started" | "ended";
  /** The task at the time of the event. */
  readonly task: TaskInfo;
}

/** An async iterator over task events, for `for await`. */
export interface TaskEventIterator extends AsyncIterable<TaskEvent> {
  /** Waits for the next event. It is done when the registry is closed. */
  next(): Promise<IteratorResult<TaskEvent, undefined>>;
  /** Ends the iteration; `for await` calls it when the loop is left. */
  return(): Promise<IteratorResult<TaskEvent, undefined>>;
  [Symbol.asyncIterator](): TaskEventIterator;
}

/** Which task events to deliver. */
export interface TaskEventOptions {
  /** Only events with a higher number than this. Default: all that are kept. */
  after?: number | undefined;
}
