// The host's say before and after a call, in the form of the Claude Agent SDK.
// `__test__/types/agent-sdk.ts` holds it against that SDK.

import type { ErrorType } from "../../index";
import type { CallFailure, CallSuccess } from "./results";

/** What a hook is told of every event. */
interface EventFacts {
  session_id: string;
  /** Always empty: a registry keeps no transcript. Hooks of the Claude Agent SDK know the field. */
  transcript_path: string;
  cwd: string;
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
}

/** What a hook is told of a call that is about to run. */
export interface PreToolUseEvent extends EventFacts {
  hook_event_name: "PreToolUse";
}

/** What a hook is told of a call that did what it was asked for. */
export interface PostToolUseEvent extends EventFacts {
  hook_event_name: "PostToolUse";
  tool_response: CallSuccess;
}

/** What a hook is told of a call that failed. */
export interface PostToolUseFailureEvent extends EventFacts {
  hook_event_name: "PostToolUseFailure";
  tool_response: CallFailure;
  /** Why it failed. */
  error: string;
  error_type: ErrorType;
}

/** What a hook is told; `hook_event_name` tells which. */
export type HookEvent = PreToolUseEvent | PostToolUseEvent | PostToolUseFailureEvent;

/**
 * What a hook may answer; nothing changes nothing. A plain object: one with `toJSON`, or with a boxed or
 * inherited value where a plain one belongs, counts as a failure of the hook.
 */
export interface HookAnswer {
  /** `false` ends the whole turn. */
  continue?: boolean | undefined;
  /** Why the turn ends. */
  stopReason?: string | undefined;
  /** After a call: keeps its output from the model. */
  suppressOutput?: boolean | undefined;
  /** Whether the call may run. */
  decision?: "approve" | "allow" | "block" | "deny" | "ask" | undefined;
  /** Why it may or may not. */
  reason?: string | undefined;
  /**
   * Run with this input instead; it is validated and judged like any other. The hook is not asked about
   * its own rewrite; what it decides holds for it. When another hook changes the input again, it is
   * asked about that. Hooks that still change each other's input after 8 rounds block the call.
   */
  updatedInput?: Record<string, unknown> | undefined;
  /** Told to the model with the result. */
  additionalContext?: string | undefined;
  /** The same, where the Claude Agent SDK has it. What belongs to its other events is not looked at. */
  hookSpecificOutput?:
    | {
        hookEventName?: string | undefined;
        /** `"defer"` blocks the call: a registry has no later. */
        permissionDecision?: "allow" | "deny" | "ask" | "defer" | undefined;
        permissionDecisionReason?: string | undefined;
        updatedInput?: Record<string, unknown> | undefined;
        additionalContext?: string | undefined;
      }
    | undefined;
  /** The answer of a hook that goes on by itself; it has no say. */
  async?: true | undefined;
}

/** A hook that is a function. */
export type HookFunction<Event = HookEvent> = (
  event: Event,
  toolUseId: string,
  options: { signal: AbortSignal },
) => HookAnswer | void | null | Promise<HookAnswer | void | null>;

/**
 * A hook that is a shell command: it gets the event as JSON on standard input and answers with JSON on
 * standard output (exit 2 blocks, with standard error as the reason).
 */
export interface HookCommand {
  type: "command";
  command: string;
  /** In seconds; by default that of its group. */
  timeout?: number | undefined;
  /** For which tools, where the command stands by itself and not in a group. */
  matcher?: string | undefined;
}

/**
 * A hook: a function or a shell command. One that fails or takes longer than its timeout before a call
 * blocks the call, and so does a command whose output is longer than 1 MiB or held open by something it
 * left running. A command runs in the system's shell, in `projectPath`, with the host's environment but for
 * variables that change what a command line means. Whatever it starts ends with it, with its timeout and
 * with the host.
 */
export type Hook<Event = HookEvent> = HookFunction<Event> | HookCommand;

/** Hooks of some tools: by name, names joined by `|`, or a regular expression for whole names. */
export interface HookGroup<Event = HookEvent> {
  matcher?: string | undefined;
  /** In seconds; by default 60. */
  timeout?: number | undefined;
  /** A `PreToolUse` hook that fails blocks its call, so for those `"continue"` is refused. */
  onFailure?: "block" | "continue" | undefined;
  hooks: readonly Hook<Event>[];
}

/** The hooks of a registry, by event. Those of the Claude Agent SDK fit. */
export interface Hooks {
  /** Asked before a call runs; they may block or rewrite it. */
  PreToolUse?: readonly (HookGroup<PreToolUseEvent> | Hook<PreToolUseEvent>)[] | undefined;
  /** Shown the result of a call that did what it was asked for. */
  PostToolUse?: readonly (HookGroup<PostToolUseEvent> | Hook<PostToolUseEvent>)[] | undefined;
  /** Shown the result of a call that failed. */
  PostToolUseFailure?:
    | readonly (HookGroup<PostToolUseFailureEvent> | Hook<PostToolUseFailureEvent>)[]
    | undefined;
}

/**
 * A hook for a registry and for the Claude Agent SDK alike. The SDK has events that are about no tool, so
 * look at `hook_event_name` first.
 */
export type SharedHook = (
  event: SharedHookEvent,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<SharedHookAnswer>;

/** What a registry and the Claude Agent SDK both tell a hook. */
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

/** What a registry and the Claude Agent SDK both understand as an answer. */
export interface SharedHookAnswer {
  /** `false` ends the whole turn. */
  continue?: boolean;
  stopReason?: string;
  /** Whether the call may run. */
  decision?: "approve" | "block";
  reason?: string;
  /** What belongs to the event. */
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
