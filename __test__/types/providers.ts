// Checked by tsc, never run: our types match those of the providers' SDKs in both directions.
import type Anthropic from "@anthropic-ai/sdk";
import type {
  CallableTool,
  Content,
  FunctionCall,
  GenerateContentResponse,
  Part,
  Tool as GeminiTool,
} from "@google/genai";
import type OpenAI from "openai";
import { createToolRegistry } from "../../index.js";

const registry = createToolRegistry();

export async function anthropic(client: Anthropic, messages: Anthropic.MessageParam[]) {
  const tools: Anthropic.ToolUnion[] = registry.definitions("anthropic");
  const request = { model: "m", max_tokens: 1, tools, messages };
  const message = await client.messages.create(request);
  const results = await registry.executeTools(message.content);
  messages.push({ role: "assistant", content: message.content });
  messages.push({ role: "user", content: results });
  results satisfies Anthropic.ToolResultBlockParam[];
  // The next message may contain more than results.
  const content: Anthropic.ContentBlockParam[] = [...results, { type: "text", text: "Go on." }];

  const beta: Anthropic.Beta.BetaToolUnion[] = registry.definitions("anthropic");
  const { content: blocks } = await client.beta.messages.create({ ...request, tools: beta });
  const betaResults: Anthropic.Beta.BetaContentBlockParam[] = await registry.executeTools(blocks);
  return [content, betaResults];
}

export async function chat(client: OpenAI, messages: OpenAI.ChatCompletionMessageParam[]) {
  const tools: OpenAI.ChatCompletionTool[] = registry.definitions("openai");
  const strict: OpenAI.ChatCompletionTool[] = registry.definitions("openai", { strict: true });
  const completion = await client.chat.completions.create({ model: "m", tools, messages });
  for (const { message } of completion.choices) {
    messages.push(message);
    messages.push(...(await registry.executeTools(message.tool_calls, { format: "openai" })));
  }
  // Servers with this format send `null` for an absent value.
  const none = null as OpenAI.ChatCompletionMessageToolCall[] | null;
  await registry.executeTools(none, { format: "openai" });
  return strict;
}

export async function responses(client: OpenAI, input: OpenAI.Responses.ResponseInputItem[]) {
  const tools: OpenAI.Responses.FunctionTool[] = registry.definitions("openai-responses");
  const mixed: OpenAI.Responses.Tool[] = [...tools, { type: "web_search" }];
  const response = await client.responses.create({ model: "m", tools: mixed, input });
  const format = "openai-responses";
  const results: OpenAI.Responses.ResponseInputItem.FunctionCallOutput[] =
    await registry.executeTools(response.output, { format });
  input.push(...results);
}

export async function gemini(response: GenerateContentResponse, contents: Content[]) {
  const tools: GeminiTool[] = registry.definitions("gemini");
  const calls: FunctionCall[] | undefined = response.functionCalls;
  const parts: Part[] | undefined = response.candidates?.[0]?.content?.parts;
  const results: Part[] = await registry.executeTools(parts, { format: "gemini" });
  contents.push({ role: "user", parts: results });
  contents.push({
    role: "user",
    parts: await registry.executeTools(calls, { format: "gemini" }),
  });
  // The SDK can make the calls itself.
  const callable: CallableTool = {
    tool: async () => ({
      functionDeclarations: registry.definitions("gemini").flatMap((it) => it.functionDeclarations),
    }),
    callTool: (calls) => registry.executeTools(calls, { format: "gemini" }),
  };
  return [tools, callable];
}

// Anything but a model's call or a block beside it is refused.
// @ts-expect-error a text is no turn
void registry.executeTools("text");
// @ts-expect-error a call has an id
void registry.executeTools([{ name: "Read", input: {} }]);
// @ts-expect-error neither a block nor a part
void registry.executeTools([5]);
