// Calls that can be described before they run, and tools that describe their own calls.

import type { ConfirmationSettled, MessageBus, ToolCallConfirmationDetails } from "./confirmations";
import type { CallError } from "./results";
import type { JsonSchema } from "./schemas";
import type { ToolExtras } from "./tools";

/** The result of an invocation: a text for the model and one for the person. */
export interface ToolResult {
  llmContent: string;
  returnDisplay: string;
  error?: CallError;
}

/** A call that can be described before it runs. */
export interface ToolInvocation<TParams = unknown> {
  readonly toolName: string;
  readonly params: TParams;
  /** One line for a person that says what the call would do, even if it will be refused. */
  getDescription(): string;
  /** The files and resources that the call would touch, even if it will be refused. */
  toolLocations(): string[];
  /**
   * What a person would have to confirm first, or `false`. Rejects with the `ToolError` of a call that is
   * denied or whose tool is disabled. It asks no person and runs no hook. Errors in the input are reported
   * by `execute`.
   */
  shouldConfirmExecute(signal?: AbortSignal): Promise<ToolCallConfirmationDetails | false>;
  /** Runs the call. Rejects only when the signal is aborted. */
  execute(signal?: AbortSignal, updateOutput?: (output: string) => void): Promise<ToolResult>;
}

/** A tool that describes each call before it runs. */
export interface DeclarativeTool<TParams = unknown> extends ToolExtras {
  readonly name: string;
  readonly displayName?: string | undefined;
  /** Used if `schema` has no description. */
  readonly description?: string | undefined;
  readonly schema: {
    name?: string | undefined;
    description?: string | undefined;
    parameters?: JsonSchema | undefined;
  };
  /**
   * Makes the invocation of one call. `params` is the validated input when the call is made, and the
   * unchecked one when `ToolRegistry.createInvocation` describes it. `messageBus` is the registry's.
   */
  createInvocation(
    params: TParams,
    messageBus: MessageBus,
  ): DeclaredInvocation | Promise<DeclaredInvocation>;
}

/** One call of a declarative tool. The registry provides the descriptions that are missing or throw. */
export interface DeclaredInvocation {
  /** One line for a person that says what the call will do. */
  getDescription?(): string;
  /** The files and resources that the call will touch. */
  toolLocations?(): string[];
  /**
   * Returns what a person has to confirm, or `false`. It is called before every call that policy does not
   * deny. If policy asks, the person is asked in any case, and sees these details if there are some. A call
   * that a rule, a default, a mode or a hook allows runs without a question. The tool itself can only refuse:
   * if this throws, returns anything else, or takes longer than the call's timeout, the call does not run.
   */
  shouldConfirmExecute?(
    signal: AbortSignal,
  ): Promise<DeclaredConfirmation | false> | DeclaredConfirmation | false;
  execute(
    signal: AbortSignal,
    updateOutput?: (output: string) => void,
  ): Promise<ToolResult> | ToolResult;
}

/** What a declarative tool wants to have confirmed. Further fields are passed on to the listener. */
export type DeclaredConfirmation =
  | DeclaredConfirmationDetails
  | (DeclaredConfirmationDetails & Record<string, unknown>);

/** The details of a tool's own question. The registry fills in `toolName` and the ids of the call. */
export interface DeclaredConfirmationDetails extends Partial<ToolCallConfirmationDetails> {
  /**
   * Called with the outcome of the confirmation request, if there was one. After an approval the call waits
   * for it, and does not run if it throws.
   */
  onConfirm?(outcome: ConfirmationSettled["outcome"]): Promise<void> | void;
}
