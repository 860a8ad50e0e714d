import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../../index.mjs";
import type { SettingValue, StateEvents, ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

const SETTINGS = {
  fontSize: { type: "number", values: [10, 12], default: 12 },
  greeting: { type: "string", description: "how to greet" },
} as const satisfies ToolRegistryOptions["settings"];

/** What a model reads when it reads or changes a setting. */
async function config(registry: ToolRegistry, setting: string, value?: SettingValue) {
  return texts(await registry.call("Config", { setting, value })).join("\n");
}

/** Collects the reported changes of settings. */
function changes(registry: ToolRegistry): StateEvents["config"][] {
  const heard: StateEvents["config"][] = [];
  registry.on("config", (event) => heard.push(event));
  return heard;
}

describe.each(STORES)("Config on the store %s", (_name, options) => {
  const registryOf = (more: ToolRegistryOptions = {}) =>
    registryHere({ settings: SETTINGS, ...options(workspace), ...more });

  test("reads and sets settings, and notifies observers of changes", async () => {
    const registry = registryOf();
    const heard = changes(registry);
    expect(await config(registry, "theme")).toBe(
      "`theme` (the colours of the interface) is not set",
    );
    expect(await registry.call("Config", { setting: "theme", value: "dark" })).toEqual({
      content: [{ type: "text", text: 'theme = "dark"' }],
      display: 'Set theme to "dark"',
      structuredContent: { operation: "set", setting: "theme", value: "dark", known: true },
    });
    expect(await config(registry, "theme")).toBe('theme = "dark"');
    expect(await registry.call("Config", { setting: " theme ", value: "light" })).toMatchObject({
      content: [{ text: 'theme = "light" (was "dark")' }],
      structuredContent: { previousValue: "dark" },
    });
    await config(registry, "theme", "light");
    await registry.config.set("theme", null);
    await expect
      .poll(() => heard)
      .toEqual([
        { setting: "theme", value: "dark", sessionId: "default" },
        { setting: "theme", value: "light", previous: "dark", sessionId: "default" },
        { setting: "theme", previous: "light" },
      ]);
  });

  test("keeps the type of every value", async () => {
    const registry = registryOf();
    for (const value of [true, false, 0, -1.5, 1e300, "", "true", "5", "__proto__", "ü\n"]) {
      await registry.call("Config", { setting: "__proto__", value });
      const { structuredContent } = await registry.call("Config", { setting: "__proto__" });
      expect(structuredContent).toMatchObject({ operation: "get", value, known: false });
      expect(await registry.config.get("__proto__")).toBe(value);
    }
  });

  test("accepts only valid values for a known setting", async () => {
    const registry = registryOf();
    expect(await config(registry, "verbose", "true")).toBe("verbose = true");
    expect(await config(registry, "fontSize", "10")).toBe("fontSize = 10");
    const refused = (setting: string, value: SettingValue) =>
      registry.call("Config", { setting, value });
    expect(await refused("verbose", "yes")).toEqual(
      failure("ValidationError", '`verbose` takes true or false, got "yes"'),
    );
    expect(await refused("fontSize", 11)).toEqual(
      failure("ValidationError", "`fontSize` takes one of 10, 12, got 11"),
    );
    expect(await refused("greeting", 1)).toEqual(
      failure("ValidationError", "`greeting` takes a string, got 1"),
    );
    await expect(registry.config.set("theme", "pink")).rejects.toMatchObject({
      type: "ValidationError",
      message: '`theme` takes one of "dark", "light", "system", got "pink"',
    });
  });

  test("suggests similar names for an unknown setting", async () => {
    const registry = registryOf();
    expect(await config(registry, "fontsize")).toBe(
      "`fontsize` is not set; close to it: `fontSize`",
    );
    expect(await config(registry, "xyz")).toBe(
      "`xyz` is not set; known settings: `fontSize`, `greeting`, `language`, `model`, `theme`, `verbose`",
    );
    expect(await config(registry, "verbos", true)).toBe(
      "verbos = true\n[`verbos` is not a known setting; did you mean `verbose`?]",
    );
    expect(await config(registry, "xyz", 1)).toBe("xyz = 1\n[`xyz` is not a known setting]");
    expect(await config(registry, "fontSize")).toBe("fontSize = 12 (the default)");
  });

  test.each(["permissionMode", "permission_mode", "permissions.defaultMode", "allowedTools"])(
    "does not let a model set %s",
    async (setting) => {
      const registry = registryOf();
      const result = await registry.call("Config", { setting, value: "bypassPermissions" });
      expect(result).toEqual(
        failure(
          "ConfigError",
          `\`${setting}\` decides what may run, so only the host can set it; ask the user`,
        ),
      );
    },
  );

  test.each([
    [{}, "ValidationError"],
    [{ setting: "" }, "ValidationError"],
    [{ setting: " " }, "ValidationError"],
    [{ setting: "a", value: ["x"] }, "ValidationError"],
    [{ setting: "a", value: { b: 1 } }, "ValidationError"],
    [{ setting: "s".repeat(10_000) }, "ConfigError"],
    [{ setting: ".permissions", value: "x" }, "ConfigError"],
    [{ setting: "a", value: "v".repeat(100_000) }, "ConfigError"],
  ])("refuses %o", async (input, type) => {
    const { error } = await registryOf().call<string>("Config", input);
    expect(error?.type).toBe(type);
  });

  test("returns every setting that is known or was set to the host", async () => {
    const registry = registryOf();
    await registry.config.set("zoom", 2);
    await registry.config.set("fontSize", 10);
    const list = await registry.config.list();
    expect(list.map((it) => it.setting)).toEqual([
      "fontSize",
      "greeting",
      "language",
      "model",
      "theme",
      "verbose",
      "zoom",
    ]);
    expect(list[0]).toEqual({ setting: "fontSize", value: 10, known: true, ...SETTINGS.fontSize });
    expect(list.at(-1)).toEqual({ setting: "zoom", value: 2, known: false });
    expect(await registry.config.get("nothing")).toBeUndefined();
  });
});

test("with null reads a setting", async () => {
  const registry = registryHere();
  const result = await registry.call<string>("Config", { setting: "theme", value: null });
  expect(result.structuredContent).toMatchObject({ operation: "get" });
});

describe("a host that stores its settings itself", () => {
  test("gets and sets them only for calls of the model", async () => {
    const kept = new Map<string, SettingValue>([["theme", "light"]]);
    const contexts: string[] = [];
    const registry = registryHere({
      handlers: {
        config: {
          get: ({ setting }: { setting: string }) => kept.get(setting),
          set: async (
            { setting, value }: { setting: string; value: SettingValue },
            context: { sessionId: string },
          ) => {
            contexts.push(context.sessionId);
            kept.set(setting, value);
          },
        },
      },
    });
    const heard = changes(registry);
    expect(await config(registry, "theme")).toBe('theme = "light"');
    expect(await config(registry, "theme", "dark")).toBe('theme = "dark" (was "light")');
    expect([kept.get("theme"), contexts]).toEqual(["dark", ["default"]]);
    expect(await config(registry, "language")).toBe(
      "`language` (the language to answer in) is not set",
    );
    await expect.poll(() => heard.length).toBe(1);
    for (const use of [
      registry.config.get("theme"),
      registry.config.set("theme", "dark"),
      registry.config.list(),
    ]) {
      await expect(use).rejects.toMatchObject({ type: "InvalidOptions" });
    }
  });

  test("fails a call by throwing, and does not get invalid values", async () => {
    let sets = 0;
    const registry = registryHere({
      handlers: {
        config: {
          get: ({ setting }: { setting: string }) =>
            setting === "theme" ? { not: "a value" } : undefined,
          set: () => {
            sets += 1;
            throw new Error("locked");
          },
        },
      },
    });
    const read = await registry.call("Config", { setting: "theme" });
    expect(read.error?.message).toBe(
      "`handlers.config.get` gave an answer of another form: expected a string, a boolean or a number",
    );
    const refused = await registry.call("Config", { setting: "theme", value: "pink" });
    expect([refused.error?.type, sets]).toEqual(["ValidationError", 0]);
    const heard = changes(registry);
    expect(await registry.call("Config", { setting: "language", value: "de" })).toEqual(
      failure("ToolFailed", "locked"),
    );
    await registry.close();
    expect([heard, sets]).toEqual([[], 1]);
  });
});

describe("misuse", () => {
  test.each([
    [{ a: { type: "date" } }, /settings\.a\.type|settings/],
    [{ a: { type: "number", default: "x" } }, /`a` takes a number, got "x"/],
    [{ a: { type: "string", values: [1] } }, /settings/],
  ])("of the option settings %o is an error", (settings, message) => {
    const make = () => createToolRegistry({ settings: settings as never });
    expect(make).toThrow(message);
  });

  test.each(["", "a/b", "ä", "x".repeat(65)])("projectId %o is an error", (projectId) => {
    expect(() => createToolRegistry({ projectId })).toThrow(/`projectId` must be 1 to 64/);
  });

  test("of the methods of config is an error", async () => {
    const { config: methods } = registryHere();
    const set = methods.set as (name: unknown, value: unknown) => Promise<void>;
    for (const [name, value] of [
      ["", 1],
      [1, 1],
      ["a", undefined],
      ["a", NaN],
      ["a", {}],
    ]) {
      await expect(set(name, value)).rejects.toMatchObject({ type: "InvalidOptions" });
    }
    await expect(methods.get(1 as never)).rejects.toMatchObject({ type: "InvalidOptions" });
  });
});
