// Commands in the background, and what happens to them.

/** A command in the background. */
export interface TaskInfo {
  readonly id: string;
  readonly command: string;
  readonly description?: string;
  /** The conversation that started it. */
  readonly sessionId: string;
  readonly state: "running" | "completed" | "failed" | "stopped";
  readonly exitCode?: number;
  /** The signal that ended the shell. */
  readonly signal?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outputBytes: number;
  /** The file that holds the output, until the task is forgotten or the registry closed. */
  readonly outputFile?: string;
  /** True when every process it starts ends with it, also when this process is killed. */
  readonly contained: boolean;
  /** Why they may not: where the supervisor is missing, or what is wrong with it. */
  readonly notContained?: string;
}

/** Something that happened to a task. */
export interface TaskEvent {
  /** Rises by one from event to event, from 1. */
  readonly sequence: number;
  readonly type: "started" | "ended";
  /** The task as it was then. */
  readonly task: TaskInfo;
}

/** Gives the events of tasks one after the other. */
export interface TaskEventIterator extends AsyncIterable<TaskEvent> {
  /** Waits for the next event; is done when the registry is closed. */
  next(): Promise<IteratorResult<TaskEvent, undefined>>;
  /** Ends the iteration. */
  return(): Promise<IteratorResult<TaskEvent, undefined>>;
  [Symbol.asyncIterator](): TaskEventIterator;
}

/** Where to begin: behind the event of this number. By default with the first that is kept. */
export interface TaskEventOptions {
  after?: number | undefined;
}
