// The options of a registry: refused values with the reason, and the effect of limits.
import { describe, expect, test } from "vitest";
import { thrownBy } from "../support/misuse.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { ToolRegistry, createToolRegistry } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: EVERY_SET });

describe("options", () => {
  test.each<[string, object, string]>([
    [
      "a server that cannot be reached",
      { mcpServers: { a: {} } },
      "MCP server `a`: it has neither a `command` to start nor a `url`",
    ],
    ["a misspelt option", { projectpath: "/" }, "unknown option `projectpath`"],
    ["an unknown option that is a function", { plugins: () => {} }, "unknown option `plugins`"],
    ["an unknown limit", { limits: { depth: 1 } }, "unknown option `depth`"],
    [
      "an unknown tool set",
      { toolsets: ["nope"] },
      "no tool set is named `nope`; there are `claude`",
    ],
    [
      "a tool set that is not a list",
      { toolsets: "claude" },
      "option `toolsets`: expected an array",
    ],
    ["a missing workspace", { projectPath: "/nowhere/at/all" }, "`/nowhere/at/all`"],
    ["a workspace that is a file", { projectPath: process.execPath }, "cannot be used"],
    ["a workspace that is a number", { projectPath: 5 }, "option `projectPath`: expected a string"],
    ["a missing root", { additionalDirectories: ["/nowhere"] }, "`/nowhere`"],
    ["a name that is a number", { serverName: 5 }, "option `serverName`: expected a string"],
    [
      "NaN as a limit",
      { limits: { callTimeoutMs: Number.NaN } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a negative limit",
      { limits: { callTimeoutMs: -1 } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a limit beyond 32 bits",
      { limits: { callTimeoutMs: 2 ** 32 } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a negative size",
      { limits: { maxResultBytes: -1 } },
      "option `limits.maxResultBytes`: expected an integer",
    ],
    [
      "a function as a known option",
      { toolsets: () => [] },
      "option `toolsets`: expected an array",
    ],
    [
      "a URL instead of a host",
      { web: { allow: ["https://intra.example/"] } },
      "`web.allow`: `https://intra.example/` is neither a host nor a network",
    ],
    [
      "a pattern that matches everything",
      { web: { allow: ["*"] } },
      "`web.allow`: `*` is neither a host nor a network",
    ],
    ["a fetch timeout of 0", { web: { timeoutMs: 0 } }, "option `web.timeoutMs`"],
    ["a page limit that is too small", { web: { maxBytes: 1 } }, "option `web.maxBytes`"],
    [
      "a line break in a header",
      { web: { userAgent: "a\nCookie: b" } },
      "has characters that a header cannot have",
    ],
    ["an unknown web option", { web: { allowed: [] } }, "unknown option `allowed`"],
    [
      "an unknown mode of the sandbox",
      { sandbox: "on" },
      "option `sandbox`: expected `auto`, `required`, `off` or an object, got `on`",
    ],
    ["a sandbox that is a boolean", { sandbox: true }, "option `sandbox`: expected"],
    ["an unknown sandbox option", { sandbox: { writeable: [] } }, "unknown option `writeable`"],
    [
      "a relative directory that commands may write to",
      { sandbox: { write: "workspace", writable: ["cache"] } },
      "option `sandbox.writable`: `cache` is not an absolute path; give the full path of the directory",
    ],
    [
      "writable directories if commands may write anywhere",
      { sandbox: { writable: ["/cache"] } },
      "set `sandbox.write` to `workspace`, or leave `writable` out",
    ],
    [
      "a URL instead of a host of commands",
      { sandbox: { network: { hosts: ["https://docs.rs"] } } },
      "option `sandbox.network.hosts`: `https://docs.rs` is not a host; write `example.com`",
    ],
    [
      "a CPU limit of 0",
      { sandbox: { limits: { cpuSeconds: 0 } } },
      "option `sandbox.limits.cpuSeconds`",
    ],
    ["a BigInt", { limits: { callTimeoutMs: 1n } }, "cannot be written as JSON"],
  ])("refuses %s", (_what, options, cause) => {
    const refused = thrownBy(() => createToolRegistry(options));
    expect(refused.type).toBe("InvalidOptions");
    expect(refused.message).toContain(cause);
  });

  test.each([null, 5, "claude"])("refuses %s instead of options", (options) => {
    expect(thrownBy(() => new ToolRegistry(options as never)).type).toBe("InvalidOptions");
  });

  test("an undefined option counts as absent", () => {
    const registry = createToolRegistry({
      toolsets: undefined,
      limits: undefined,
      version: undefined,
    } as never);
    expect(registry.names()).toEqual(createToolRegistry().names());
  });

  test("a limit on results cuts at a line and says so", async () => {
    const registry = registryHere({ limits: { maxResultBytes: 1_000 } });
    const result = await registry.call("diagnostic_echo", { text: "0123456789\n", repeat: 200 });
    const [shown = "", note] = texts(result);
    expect(shown).toMatch(/^(0123456789\n)+$/);
    expect(shown.length).toBeLessThanOrEqual(1_000);
    expect(shown.length).toBeGreaterThan(700);
    expect(note).toMatch(/^\[result cut: \d+ of 2200 bytes of text are shown; /);
  });

  test("a limit on time ends a call", async () => {
    const registry = registryHere({ limits: { callTimeoutMs: 20 } });
    expect(await registry.call("diagnostic_sleep", { ms: 600_000 })).toEqual(
      failure("TimeoutError", "the call was stopped after its limit of 20 ms"),
    );
  });
});
