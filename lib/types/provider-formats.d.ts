// The wire formats of model providers: how a model is told of tools, calls them and gets their results.
// `__test__/types/providers.ts` holds them against the providers' own SDKs.

import type { ToolAnnotations } from "../../index";
import type { CallResult } from "./results";
import type { InputSchema } from "./schemas";

/** The formats in which tools are told to a model. */
export type DefinitionFormat = "mcp" | "anthropic" | "openai" | "openai-responses" | "gemini";

/** A tool as the Model Context Protocol lists it. */
export interface McpDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: InputSchema;
  /** What `structuredContent` fits, where the registry was made to tell it. */
  outputSchema?: InputSchema;
  annotations: ToolAnnotations;
}

/** A tool as Anthropic's Messages API takes it. */
export interface AnthropicDefinition {
  name: string;
  description: string;
  input_schema: InputSchema;
}

/** A function as OpenAI's APIs take it. */
export interface OpenAiFunction {
  name: string;
  description: string;
  parameters: InputSchema;
  /** Whether the model is held to the schema. Said in both cases, because Responses takes silence for yes. */
  strict: boolean;
}

/** A tool as OpenAI's Chat Completions take it. */
export interface OpenAiDefinition {
  type: "function";
  function: OpenAiFunction;
}

/** A tool as OpenAI's Responses take it. */
export interface OpenAiResponsesDefinition extends OpenAiFunction {
  type: "function";
}

/** The tools as Gemini takes them: all of them in one. */
export interface GeminiDefinition {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: InputSchema }[];
}

/** What `definitions` gives, by format. */
export interface Definitions {
  mcp: McpDefinition[];
  anthropic: AnthropicDefinition[];
  openai: OpenAiDefinition[];
  "openai-responses": OpenAiResponsesDefinition[];
  gemini: GeminiDefinition[];
}

/**
 * A model's call: an Anthropic `tool_use` block, a tool call of OpenAI's chat, a `function_call` item of
 * its responses, or a Gemini function call, by itself or in its part.
 */
export type ToolUseBlock =
  | { type?: string | undefined; id: string; name: string; input?: unknown }
  | { type?: string | undefined; id: string; function: { name: string; arguments: string } }
  | { type?: string | undefined; call_id: string; name: string; arguments: string }
  | { functionCall: GeminiFunctionCall }
  | GeminiFunctionCall;

/** A function call of Gemini. */
export interface GeminiFunctionCall {
  /** Not every model gives one; results go back by name and order then. */
  id?: string | undefined;
  name?: string | undefined;
  args?: Record<string, unknown> | undefined;
  input?: never;
  type?: never;
}

/**
 * What a model's answer is made of: calls, and blocks that are none, such as text, thinking and what the
 * provider runs by itself. Those bear another `type`, or are parts of Gemini without a `functionCall`.
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

/** A text in a result for Anthropic. */
export interface AnthropicText {
  type: "text";
  text: string;
}

/** An image in a result for Anthropic. Of an image of another kind, a text says that it was there. */
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

/** A result as a part for Gemini. */
export interface GeminiFunctionResponse {
  functionResponse: { id: string; name: string; response: { output: string } | { error: string } };
}

/** What `executeTools` gives, by format. */
export interface TurnResults {
  anthropic: AnthropicToolResult[];
  openai: OpenAiToolMessage[];
  "openai-responses": OpenAiFunctionOutput[];
  gemini: GeminiFunctionResponse[];
  mcp: CallResult[];
}
