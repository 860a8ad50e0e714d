// Hooks: the host's functions and commands that run before and after a call, in the form of the Claude
// Agent SDK. `__test__/types/agent-sdk.ts` checks that the types fit that SDK.

import type { ErrorType } from "./errors";
import type { CallFailure, CallSuccess } from "./results";

/** The fields that all events have. */
interface EventFacts {
  session_id: string;
  /** Always empty, because a registry keeps no transcript. Hooks of the Claude Agent SDK expect the field. */
  transcript_path: string;
  cwd: string;
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
}

/** The event before a call runs. */
export interface PreToolUseEvent extends EventFacts {
  hook_event_name: "PreToolUse";
}

/** The event after a call that succeeded. */
export interface PostToolUseEvent extends EventFacts {
  hook_event_name: "PostToolUse";
  tool_response: CallSuccess;
}

/** The event after a call that failed. */
export interface PostToolUseFailureEvent extends EventFacts {
  hook_event_name: "PostToolUseFailure";
  tool_response: CallFailure;
  /** The message of the error. */
  error: string;
  error_type: ErrorType;
}

/** The event that a hook gets. `hook_event_name` is its kind. */
export type HookEvent = PreToolUseEvent | PostToolUseEvent | PostToolUseFailureEvent;

/**
 * What a hook may return. `undefined`, `null` or an empty object changes nothing. It has to be a plain
 * object: `toJSON`, a boxed value or an inherited property counts as a failure of the hook.
 */
export interface HookAnswer {
  /** `false` ends the whole turn. */
  continue?: boolean | undefined;
  /** With `continue: false`: the reason. */
  stopReason?: string | undefined;
  /** After a call: hides its output from the model. */
  suppressOutput?: boolean | undefined;
  /** Before a call: whether it may run. */
  decision?: "approve" | "allow" | "block" | "deny" | "ask" | undefined;
  /** The reason for the decision. */
  reason?: string | undefined;
  /**
   * Runs the call with this input instead, which is validated and judged again. The hook's decision also
   * applies to its own rewrite, so it is not asked about that. If another hook changes the input after it,
   * it is asked again. Hooks that still change each other's input after 8 rounds block the call.
   */
  updatedInput?: Record<string, unknown> | undefined;
  /** A text that the model gets with the result. */
  additionalContext?: string | undefined;
  /** The same fields where the Claude Agent SDK has them. Fields for its other events are ignored. */
  hookSpecificOutput?:
    | {
        hookEventName?: string | undefined;
        /** `"defer"` blocks the call, because a registry cannot postpone a decision. */
        permissionDecision?: "allow" | "deny" | "ask" | "defer" | undefined;
        permissionDecisionReason?: string | undefined;
        updatedInput?: Record<string, unknown> | undefined;
        additionalContext?: string | undefined;
      }
    | undefined;
  /** Set by a hook that continues in the background. Such an answer decides nothing. */
  async?: true | undefined;
}

/** A hook that is a function, called with the same arguments as by the Claude Agent SDK. */
export type HookFunction<Event = HookEvent> = (
  event: Event,
  toolUseId: string,
  options: { signal: AbortSignal },
) => HookAnswer | void | null | Promise<HookAnswer | void | null>;

/**
 * A hook that is a shell command. It gets the event as JSON on standard input and answers with JSON on
 * standard output. Exit code 2 blocks the call, with standard error as the reason.
 */
export interface HookCommand {
  type: "command";
  command: string;
  /** In seconds. Default: that of its group. */
  timeout?: number | undefined;
  /** The tools that the hook is for, if the command is not in a group. */
  matcher?: string | undefined;
}

/**
 * A function or a shell command. Before a call, a hook that fails or times out blocks the call. So does a
 * command that prints more than 1 MiB, or that leaves a process running which holds its output open.
 *
 * A command runs in the system's shell, in `projectPath`, with the host's environment except for variables
 * that change the meaning of a command line. Every process it starts ends with it, at its timeout, or with
 * the host.
 */
export type Hook<Event = HookEvent> = HookFunction<Event> | HookCommand;

/** Hooks for some of the tools. */
export interface HookGroup<Event = HookEvent> {
  /** A tool's name, names joined by `|`, or a regular expression for whole names. Default: all tools. */
  matcher?: string | undefined;
  /** In seconds. Default: 60. */
  timeout?: number | undefined;
  /** `PreToolUse` does not accept `"continue"`: a hook that fails there always blocks its call. */
  onFailure?: "block" | "continue" | undefined;
  hooks: readonly Hook<Event>[];
}

/** The hooks of a registry, by event. Hooks written for the Claude Agent SDK fit. */
export interface Hooks {
  /** Run before a call, and may block it or change its input. */
  PreToolUse?: readonly (HookGroup<PreToolUseEvent> | Hook<PreToolUseEvent>)[] | undefined;
  /** Run after a call that succeeded, with its result. */
  PostToolUse?: readonly (HookGroup<PostToolUseEvent> | Hook<PostToolUseEvent>)[] | undefined;
  /** Run after a call that failed, with its result. */
  PostToolUseFailure?:
    | readonly (HookGroup<PostToolUseFailureEvent> | Hook<PostToolUseFailureEvent>)[]
    | undefined;
}

/**
 * A hook that works in a registry and in the Claude Agent SDK. The SDK also has events that are not about a
 * tool, so check `hook_event_name` first.
 */
export type SharedHook = (
  event: SharedHookEvent,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<SharedHookAnswer>;

/** The fields of an event that a registry and the Claude Agent SDK have in common. */
export interface SharedHookEvent {
  hook_event_name: string;
  session_id: string;
  transcript_path: string;
  cwd: string;
  tool_name?: string | undefined;
  tool_use_id?: string | undefined;
  tool_input?: unknown;
  tool_response?: unknown;
}

/** The fields of an answer that a registry and the Claude Agent SDK both understand. */
export interface SharedHookAnswer {
  /** `false` ends the whole turn. */
  continue?: boolean;
  stopReason?: string;
  /** Before a call: whether it may run. */
  decision?: "approve" | "block";
  reason?: string;
  /** The fields that are specific to one event. */
  hookSpecificOutput?:
    | {
        hookEventName: "PreToolUse";
        permissionDecision?: "allow" | "deny" | "ask";
        permissionDecisionReason?: string;
        updatedInput?: Record<string, unknown>;
        additionalContext?: string;
      }
    | { hookEventName: "PostToolUse" | "PostToolUseFailure"; additionalContext?: string };
}
