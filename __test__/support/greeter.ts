import { tool } from "./unasked.js";

/** A tool of a host with a required parameter, one with a default and an optional one. */
export function greeter() {
  return tool({
    name: "greet",
    title: "Greet",
    description: "Greets somebody.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Whom." },
        times: { type: "integer", minimum: 1, default: 1 },
        tone: { type: "string", enum: ["warm", "cool"] },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
    handler: ({ name }: { name: string }) => `hello ${name}`,
  });
}
