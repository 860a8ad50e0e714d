// Tools of a host with every kind of content that MCP has.

export function registerOwnTools(registry) {
  const add = (name, handler, more = {}) => registry.register({ name, handler, ...more });
  add("own", ({ text }) => ({ content: [{ type: "text", text }], structuredContent: { text } }), {
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    outputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
  });
  add("own_blocks", () => ({
    content: [
      { type: "text", text: "words" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      {
        type: "resource",
        resource: { uri: "test://one", mimeType: "text/plain", text: "embedded" },
      },
      { type: "resource_link", uri: "test://two", name: "two" },
    ],
  }));
  add("own_failing", () => {
    throw new Error("on purpose");
  });
}
