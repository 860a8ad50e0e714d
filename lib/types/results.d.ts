// The results of calls.

import type { ToolOutputs } from "../generated/tool-outputs";
import type { ErrorType } from "./errors";

/** A content block of a result, as the Model Context Protocol defines it. */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text: string } }
  | { type: "resource"; resource: { uri: string; mimeType?: string; blob: string } };

/** Why a call failed. `message` is for the model: what went wrong, and what it may do next. */
export interface CallError {
  type: ErrorType;
  message: string;
  /** Details of a refusal for a person or the host. `display` has them as text. */
  details?: RefusalDetails;
}

/** Details of a refusal for a person or the host. No text for a model contains them. */
export interface RefusalDetails {
  /** Why the call was refused, with the rule or setting that did it. */
  reason: string;
  /** What to change so that the same call runs: a rule, a listener, a mode or an option. */
  howToAllow: string;
  /** The narrowest rules that would allow the call. Missing if no rule can, or if it would be unreadable. */
  suggestedRules?: string[];
}

/** The result of a call, in the shape of the Model Context Protocol. Only a failure has `isError: true`. */
export type CallResult<Structured = Record<string, unknown>> =
  | CallSuccess<Structured>
  | CallFailure<Structured>;

/** The result of a call that succeeded. */
export type CallSuccess<Structured = Record<string, unknown>> = {
  content: ToolContent[];
  isError?: false;
  /** The same facts as data, for tools that have some. */
  structuredContent?: AsObject<Structured>;
  /** A text for a person, if it differs from the content. Never blank. */
  display?: string;
  error?: undefined;
  /** Facts about the result for programs, such as `toolwright/file`. */
  _meta?: Record<string, unknown>;
};

/** The result of a call that failed. */
export type CallFailure<Structured = Record<string, unknown>> = {
  /** The error as a text for the model, and the output until then. */
  content: ToolContent[];
  isError: true;
  /** The same facts as data, for tools that have some. */
  structuredContent?: AsObject<Structured>;
  /** A text for a person. For a refusal it says how to allow the call. Never blank. */
  display?: string;
  /** Why the tool failed. */
  error: CallError;
  /** Facts about the result for programs. */
  _meta?: Record<string, unknown>;
};

/** The type of a tool's `structuredContent`: known for built-in tools, an object for others. */
export type StructuredContentOf<Name extends string> = Name extends keyof ToolOutputs
  ? ToolOutputs[Name]
  : Record<string, unknown>;

// Unlike an interface, this is assignable to `Record<string, unknown>`, which the MCP SDK asks for. For a
// tool without data, T is `undefined`.
type AsObject<T> = [T] extends [undefined] ? never : { [K in keyof T]: T[K] };
