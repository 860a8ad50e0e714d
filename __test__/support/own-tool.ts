// A declarative tool of a host, made from the parts that a test needs.
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  DeclarativeTool,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";

export type Invocation = ReturnType<DeclarativeTool["createInvocation"]>;
export type Parts = { [Key in keyof Invocation]?: unknown };
/** A person's answer to every question. */
export type Answer = Omit<ConfirmationResponse, "id">;

/** Makes registries with a declarative tool `own` of these parts, and a person who answers. */
export function withOwnTool(made: (options: ToolRegistryOptions) => ToolRegistry) {
  return (parts: Parts = {}, options: ToolRegistryOptions = {}, answer?: Answer) => {
    const registry = made(options);
    const given: unknown[][] = [];
    const ran: unknown[] = [];
    registry.register({
      name: "own",
      displayName: "Own",
      schema: { parameters: { type: "object", properties: { a: { type: "integer" } } } },
      createInvocation(...args: unknown[]) {
        given.push(args);
        return {
          execute() {
            ran.push(args[0]);
            return { llmContent: "ran", returnDisplay: "ran" };
          },
          ...parts,
        } as Invocation;
      },
    } as DeclarativeTool);
    const asked: ConfirmationRequest[] = [];
    if (answer !== undefined) {
      registry.messageBus.on("request", (request) => {
        asked.push(request);
        registry.messageBus.respondToConfirmation({ id: request.id, ...answer });
      });
    }
    return { registry, given, ran, asked };
  };
}

/** The confirmation details of an invocation. */
export const details = (more: object = {}) => ({
  toolName: "another",
  description: "Delete 40 rows",
  risk: "low" as const,
  locations: ["db:rows"],
  ...more,
});

/** A function that throws this. */
export function thrower(thrown: unknown) {
  return (): never => {
    throw thrown;
  };
}
