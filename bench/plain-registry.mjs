// The registries that a host would write without toolwright: a minimal one, and one that also checks input.

/** A map of async functions, without any checks. */
export class PlainRegistry {
  #tools = new Map();

  register(name, handler) {
    this.#tools.set(name, handler);
  }

  has(name) {
    return this.#tools.has(name);
  }

  async call(name, input) {
    const handler = this.#tools.get(name);
    if (handler === undefined) throw new Error(`no tool is named ${name}`);
    return handler(input);
  }
}

/** The same, with input checked by Zod. */
export class ZodRegistry {
  #tools = new Map();

  register(name, schema, handler) {
    this.#tools.set(name, { schema, handler });
  }

  async call(name, input) {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new Error(`no tool is named ${name}`);
    const parsed = tool.schema.safeParse(input);
    if (!parsed.success) {
      return { content: [{ type: "text", text: parsed.error.message }], isError: true };
    }
    return tool.handler(parsed.data);
  }
}

/** A result with one text, which every contender returns. */
export function textResult(text) {
  return { content: [{ type: "text", text }] };
}
