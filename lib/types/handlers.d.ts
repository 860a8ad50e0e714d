import type { SpawnAgent } from "./agents";
import type { SettingValue } from "./state";

/** What every function of `handlers` gets as its second argument. */
export interface HandlerContext {
  /** The id of the call that needs the function. */
  readonly toolUseId: string;
  /** The conversation that the call belongs to. */
  readonly sessionId: string;
  /** Aborted when the caller aborts, the call times out or the registry is closed. */
  readonly signal: AbortSignal;
  /** Shows a piece of output to whoever watches the call. */
  updateOutput(text: string): void;
  /** Reports how much of the work is done. */
  reportProgress(step: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }): void;
}

/** Functions of the host that built-in tools call. A tool whose function is missing says so in its error. */
export interface HostHandlers {
  /** Keeps the settings of the tool `Config`, instead of the registry's store. */
  config?: ConfigStore | undefined;
  /**
   * Runs an agent for the tool `Agent`. Without it, the Claude Agent SDK is used if it is installed; see
   * `agentSdkSpawner` of `toolwright/agent-sdk`.
   */
  spawnAgent?: SpawnAgent | undefined;
}

/** Settings that the host keeps itself. What a method throws becomes the error of the call. */
export interface ConfigStore {
  /** Returns the value of a setting; `undefined` or `null` if it is not set. */
  get(
    input: { setting: string },
    context: HandlerContext,
  ): SettingValue | null | undefined | Promise<SettingValue | null | undefined>;
  /** Sets a value. A known setting has its type here already. */
  set(
    input: { setting: string; value: SettingValue },
    context: HandlerContext,
  ): void | Promise<void>;
}
