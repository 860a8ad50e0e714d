// Checked by tsc, never run: declarative tools and invocations as hosts write and use them.
import {
  MessageBus,
  createToolRegistry,
  type DeclarativeTool,
  type ToolCallConfirmationDetails,
  type ToolResult,
} from "../../index.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Claim extends true>(): void {}

const registry = createToolRegistry();
const invocation = registry.createInvocation("read_file", { path: "a" });
holds<
  Equal<
    ReturnType<typeof invocation.shouldConfirmExecute>,
    Promise<ToolCallConfirmationDetails | false>
  >
>();

// A minimal declarative tool, and one with more members.
class SeedInvocation {
  constructor(
    public params: { path: string },
    private messageBus: MessageBus,
  ) {}
  getDescription(): string {
    return `Touch ${this.params.path}`;
  }
  toolLocations(): string[] {
    return [this.params.path];
  }
  async shouldConfirmExecute(
    abortSignal: AbortSignal,
  ): Promise<ToolCallConfirmationDetails | false> {
    const details = { toolName: "touch", description: this.getDescription(), risk: "low" as const };
    return (await this.messageBus.requestConfirmation(details, abortSignal)) ? details : false;
  }
  async execute(): Promise<ToolResult> {
    return { llmContent: "", returnDisplay: "" };
  }
}
class SeedTool implements DeclarativeTool<{ path: string }> {
  name = "touch";
  displayName = "Touch";
  schema = { name: "touch", parameters: { type: "object" } };
  createInvocation(params: { path: string }, messageBus: MessageBus) {
    return new SeedInvocation(params, messageBus);
  }
}
registry.register(new SeedTool());
registry.register({
  name: "says-more",
  schema: {},
  createInvocation: () => ({
    shouldConfirmExecute: () => ({ title: "Rows", rows: 40, onConfirm: (outcome) => void outcome }),
    execute: () => ({ llmContent: "", returnDisplay: "" }),
  }),
});
registry.register({
  name: "wrong",
  schema: {},
  createInvocation: () => ({
    // @ts-expect-error a question is `false` or details
    shouldConfirmExecute: () => true,
    execute: () => ({ llmContent: "", returnDisplay: "" }),
  }),
});

const read = registry.get("Read");
const other = new MessageBus();
void read?.createInvocation({ file_path: "/a" }).execute();
void read?.createInvocation({ file_path: "/a" }, other).execute();
// @ts-expect-error a bus is a MessageBus
void read?.createInvocation({ file_path: "/a" }, { sessionId: "s" });
