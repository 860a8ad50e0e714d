// The wire formats of model providers: definitions of tools, calls, and results.
// `__test__/types/providers.ts` checks them against the providers' own SDKs.

import type { CallResult } from "./results";
import type { InputSchema } from "./schemas";
import type { ToolAnnotations } from "./tools";

/** The formats in which `definitions` returns the tools. */
export type DefinitionFormat = "mcp" | "anthropic" | "openai" | "openai-responses" | "gemini";

/** A tool as the Model Context Protocol lists it. */
export interface McpDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: InputSchema;
  /** The schema of `structuredContent`, if the registry's option of that name is true. */
  outputSchema?: InputSchema;
  annotations: ToolAnnotations;
}

/** The definition of a tool for Anthropic's Messages API. */
export interface AnthropicDefinition {
  name: string;
  description: string;
  input_schema: InputSchema;
}

/** The definition of a function, which both of OpenAI's APIs share. */
export interface OpenAiFunction {
  name: string;
  description: string;
  parameters: InputSchema;
  /** Whether the model has to follow the schema. Always set, because in Responses the default is true. */
  strict: boolean;
}

/** The definition of a tool for OpenAI's Chat Completions. */
export interface OpenAiDefinition {
  type: "function";
  function: OpenAiFunction;
}

/** The definition of a tool for OpenAI's Responses. */
export interface OpenAiResponsesDefinition extends OpenAiFunction {
  type: "function";
}

/** The definitions for Gemini, which has all functions in one tool. */
export interface GeminiDefinition {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: InputSchema }[];
}

/** What `definitions` returns, by format. */
export interface Definitions {
  mcp: McpDefinition[];
  anthropic: AnthropicDefinition[];
  openai: OpenAiDefinition[];
  "openai-responses": OpenAiResponsesDefinition[];
  gemini: GeminiDefinition[];
}

/**
 * A call by a model: an Anthropic `tool_use` block, a tool call of OpenAI's chat, a `function_call` item of
 * its responses, or a Gemini function call, with or without the part around it.
 */
export type ToolUseBlock =
  | { type?: string | undefined; id: string; name: string; input?: unknown }
  | { type?: string | undefined; id: string; function: { name: string; arguments: string } }
  | { type?: string | undefined; call_id: string; name: string; arguments: string }
  | { functionCall: GeminiFunctionCall }
  | GeminiFunctionCall;

/** A call by a Gemini model. */
export interface GeminiFunctionCall {
  /** Some models give no id; their results are matched by name and order. */
  id?: string | undefined;
  name?: string | undefined;
  args?: Record<string, unknown> | undefined;
  input?: never;
  type?: never;
}

/**
 * A block of a model's answer: a call, or something else, such as text, thinking, or a call that the
 * provider runs itself. Blocks that are not calls have another `type`, or are Gemini parts without a
 * `functionCall`.
 */
export type TurnBlock =
  | ToolUseBlock
  | { type: string }
  | { functionCall?: GeminiFunctionCall | undefined; text?: string | undefined };

/** A result for the next user message of Anthropic's Messages API. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: (AnthropicText | AnthropicImage)[];
  is_error?: true;
}

/** A text block in a result for Anthropic. */
export interface AnthropicText {
  type: "text";
  text: string;
}

/** An image block in a result for Anthropic. Images of other types are replaced by a text that says so. */
export interface AnthropicImage {
  type: "image";
  source: {
    type: "base64";
    media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
    data: string;
  };
}

/** A result as a message of OpenAI's chat. The text of an error begins with `Error:`. */
export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** A result as an input item of OpenAI's Responses. The text of an error begins with `Error:`. */
export interface OpenAiFunctionOutput {
  type: "function_call_output";
  call_id: string;
  output: string;
}

/** A result as a part of the next message to Gemini. */
export interface GeminiFunctionResponse {
  functionResponse: { id: string; name: string; response: { output: string } | { error: string } };
}

/** What `executeTools` returns, by format. */
export interface TurnResults {
  anthropic: AnthropicToolResult[];
  openai: OpenAiToolMessage[];
  "openai-responses": OpenAiFunctionOutput[];
  gemini: GeminiFunctionResponse[];
  mcp: CallResult[];
}
