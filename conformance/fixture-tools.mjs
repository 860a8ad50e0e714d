// The tools that the scenarios of `@modelcontextprotocol/conformance` call by fixed names, as a host would
// register them. The descriptions of the scenarios say what each has to return.
import { setTimeout as after } from "node:timers/promises";
import { tool } from "../index.mjs";

const RED_PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/** How long a tool waits between two messages: long enough that each is sent separately. */
const PAUSE_MS = 50;

const image = { type: "image", data: RED_PIXEL, mimeType: "image/png" };
const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });

/** A schema with the keywords of JSON Schema 2020-12 that a listing must not lose. */
const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

async function withProgress(_input, { reportProgress }) {
  for (const progress of [0, 50, 100]) {
    reportProgress?.({ progress, total: 100 });
    await after(PAUSE_MS);
  }
  return "three steps were reported";
}

/** Tools that run without confirmation. */
const PLAIN = [
  {
    name: "test_simple_text",
    description: "Returns text.",
    handler: () => "This is a simple text response for testing.",
  },
  {
    name: "test_image_content",
    description: "Returns an image.",
    handler: () => ({ content: [image] }),
  },
  {
    name: "test_audio_content",
    description: "Returns audio.",
    handler: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  },
  {
    name: "test_embedded_resource",
    description: "Returns a resource.",
    handler: () => ({
      content: [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
      ],
    }),
  },
  {
    name: "test_multiple_content_types",
    description: "Returns text, an image and a resource.",
    handler: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        image,
        embedded(
          "test://mixed-content-resource",
          "application/json",
          JSON.stringify({ test: "data", value: 123 }),
        ),
      ],
    }),
  },
  {
    name: "test_error_handling",
    description: "Fails.",
    handler: () =>
      Promise.reject(new Error("This tool intentionally returns an error for testing")),
  },
  { name: "test_tool_with_progress", description: "Reports progress.", handler: withProgress },
  {
    name: "test_reconnection",
    description: "Takes a moment.",
    handler: () => after(PAUSE_MS, "done"),
  },
  { name: "test_logging_tool", description: "Writes no log.", handler: () => "nothing was logged" },
  {
    name: "json_schema_2020_12_tool",
    description: "Has a schema with keywords of JSON Schema 2020-12.",
    inputSchema: SCHEMA_2020_12,
    handler: () => "valid",
  },
  {
    name: "test_header_parameter",
    description: "Has an input that clients repeat in a header.",
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
    },
    handler: ({ region = "none" }) => `region ${region}`,
  },
];

/** Tools about which policy asks a person, which becomes an elicitation. */
const ASKED = [
  "test_elicitation",
  "test_streaming_elicitation",
  "test_input_required_result_elicitation",
  "test_input_required_result_request_state",
  "test_input_required_result_tampered_state",
].map((name) => ({
  name,
  description: "Runs after a person agreed.",
  inputSchema: { type: "object", properties: { message: { type: "string" } } },
  handler: () => "agreed",
}));

const ADDED = { name: "test_added", description: "Comes and goes.", handler: () => "" };

/** Registers the tools, and allows those that need no confirmation. */
export function registerFixtureTools(registry) {
  for (const definition of [...PLAIN, ...ASKED]) registry.register(tool(definition));
  let changes = 0;
  registry.register(
    tool({
      name: "test_trigger_tool_change",
      description: "Registers a tool, or removes it again.",
      handler: () => {
        changes += 1;
        if (changes % 2 === 1) {
          registry.register(tool(ADDED));
        } else {
          registry.unregister("test_added");
        }
        return "changed";
      },
    }),
  );
  registry.withAllowed("test_trigger_tool_change", ...PLAIN.map(({ name }) => name));
}
