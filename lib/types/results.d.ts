// What calls answer.

import type { ErrorType } from "../../index";
import type { ToolOutputs } from "../generated/tool-outputs";

/** One block of a result, as the Model Context Protocol has it. */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text: string } }
  | { type: "resource"; resource: { uri: string; mimeType?: string; blob: string } };

/** Why a call failed. `message` is for the model: what went wrong and what it may do next. */
export interface CallError {
  type: ErrorType;
  message: string;
  /** What a person or the host is told of a call that was refused; `display` says it as text. */
  details?: RefusalDetails;
}

/** What a person or the host is told of a refusal. It is in no text that goes to a model. */
export interface RefusalDetails {
  /** Why, with the rule or setting that refused. */
  reason: string;
  /** What to change so that the same call runs: a rule, a listener, a mode, an option. */
  howToAllow: string;
  /** The narrowest rules that would allow the call, where rules can and can be written visibly. */
  suggestedRules?: string[];
}

/**
 * The result of a call, shaped as the Model Context Protocol's. `isError` tells which: a failure has an
 * `error`, a success has none.
 */
export type CallResult<Structured = Record<string, unknown>> =
  | CallSuccess<Structured>
  | CallFailure<Structured>;

/** The result of a call that did what it was asked for. */
export type CallSuccess<Structured = Record<string, unknown>> = {
  content: ToolContent[];
  isError?: false;
  /** The same facts as data, where that serves a program better than the text. */
  structuredContent?: AsObject<Structured>;
  /** A text for a person, never blank, where it is not the content itself. */
  display?: string;
  error?: undefined;
  /** Facts about the result for programs, such as `toolwright/file`. */
  _meta?: Record<string, unknown>;
};

/** The result of a call that failed. */
export type CallFailure<Structured = Record<string, unknown>> = {
  /** What the model reads of the failure, and what there was until then. */
  content: ToolContent[];
  isError: true;
  /** The same facts as data, where there are some. */
  structuredContent?: AsObject<Structured>;
  /** A text for a person, never blank; of a refusal, how to allow it. */
  display?: string;
  /** Why the tool failed. */
  error: CallError;
  /** Facts about the result for programs. */
  _meta?: Record<string, unknown>;
};

/** The `structuredContent` of a tool's results: known for built-in tools, an object for others. */
export type StructuredContentOf<Name extends string> = Name extends keyof ToolOutputs
  ? ToolOutputs[Name]
  : Record<string, unknown>;

// An interface is not assignable to `Record<string, unknown>`, which the MCP SDK asks for; this is. A tool
// without data has `undefined` for its output.
type AsObject<T> = [T] extends [undefined] ? never : { [K in keyof T]: T[K] };
