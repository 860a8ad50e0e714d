import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rejectionOf } from "../support/misuse.js";
import { texts } from "../support/results";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const registryOf = useRegistries(workspace);

describe("undo", () => {
  test("a changed file gets its old bytes and mode back", async () => {
    const registry = registryOf();
    const bytes = Buffer.from("\ufeffone\r\ntwo\n", "utf16le");
    const path = workspace.write("a.sh", bytes);
    chmodSync(path, 0o755);
    await registry.call("Read", { file_path: path });
    const edit = { file_path: path, old_string: "two", new_string: "2" };
    const edited = await registry.call("Edit", edit, { toolUseId: "toolu_1" });
    expect(edited.isError).toBeUndefined();
    expect(readFileSync(path)).not.toEqual(bytes);
    expect(await registry.undo("toolu_1")).toEqual([{ path, action: "restored" }]);
    expect(readFileSync(path)).toEqual(bytes);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(readdirSync(workspace.root)).toEqual(["a.sh"]);
  });

  test("a created file is removed", async () => {
    const registry = registryOf();
    const path = workspace.path("new.txt");
    await registry.call("Write", { file_path: path, content: "x" }, { toolUseId: "w" });
    expect(await registry.undo("w")).toEqual([{ path, action: "removed" }]);
    expect(existsSync(path)).toBe(false);
  });

  test("a file that has changed again is left unchanged, and the message says what to do", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one");
    await registry.call("Read", { file_path: path });
    for (const [toolUseId, content] of [
      ["first", "two"],
      ["second", "three"],
    ] as const) {
      await registry.call("Write", { file_path: path, content }, { toolUseId });
    }
    expect(await rejectionOf(registry.undo("first"))).toEqual({
      type: "StaleFileError",
      message: `\`${path}\` has changed since call \`first\` wrote it, and was left as it is; undo call \`second\` first`,
    });
    expect(readFileSync(path, "utf8")).toBe("three");
    await registry.undo("second");
    await registry.undo("first");
    expect(readFileSync(path, "utf8")).toBe("one");

    await registry.call("Read", { file_path: path });
    await registry.call("Write", { file_path: path, content: "ours" }, { toolUseId: "third" });
    writeFileSync(path, "theirs");
    expect((await rejectionOf(registry.undo("third"))).type).toBe("StaleFileError");
    expect(readFileSync(path, "utf8")).toBe("theirs");
    // A refused undo can be repeated.
    writeFileSync(path, "ours");
    expect(await registry.undo("third")).toEqual([{ path, action: "restored" }]);
  });

  test("after an undo the model has to read the file again", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n");
    await registry.call("Read", { file_path: path });
    await registry.call("Write", { file_path: path, content: "two\n" }, { toolUseId: "w" });
    await registry.undo("w");
    const refused = await registry.call("Write", { file_path: path, content: "three\n" });
    expect(refused.error?.type).toBe("StaleFileError");
    expect(texts(refused)[0]).toContain("-two\n+one");
  });

  test("sessions are separate, and a call is undone once", async () => {
    const registry = registryOf();
    const write = (name: string, sessionId: string) =>
      registry.call("write_file", { path: name, content: "x" }, { toolUseId: "id", sessionId });
    await write("a", "one");
    await write("b", "two");
    expect((await rejectionOf(registry.undo("id"))).type).toBe("NothingToUndo");
    await registry.undo("id", { sessionId: "two" });
    expect(readdirSync(workspace.root)).toEqual(["a"]);
    expect((await rejectionOf(registry.undo("id", { sessionId: "two" }))).type).toBe(
      "NothingToUndo",
    );
  });

  test("a later change of another session is named with its session", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one");
    const change = async (content: string, sessionId: string) => {
      await registry.call("Read", { file_path: path }, { sessionId });
      await registry.call("Write", { file_path: path, content }, { toolUseId: "id", sessionId });
    };
    await change("two", "first");
    await change("three", "second");
    const { message } = await rejectionOf(registry.undo("id", { sessionId: "first" }));
    expect(message).toContain("undo call `id` of session `second` first");
  });

  test("files undone before a changed file are reported", async () => {
    const registry = registryOf();
    for (const name of ["a", "b"])
      await registry.call("write_file", { path: name, content: "x" }, { toolUseId: "id" });
    writeFileSync(workspace.path("a"), "changed");
    const { type, message } = await rejectionOf(registry.undo("id"));
    expect(type).toBe("StaleFileError");
    expect(message).toContain(`undone before that: \`${workspace.path("b")}\``);
    expect(readdirSync(workspace.root)).toEqual(["a"]);
  });

  test("the calls of a turn are undone by the ids of their blocks", async () => {
    const registry = registryOf();
    const input = { file_path: workspace.path("a"), content: "x" };
    await registry.executeTools([{ type: "tool_use", id: "toolu_9", name: "Write", input }]);
    await registry.undo("toolu_9");
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("an invalid id, and a closed registry, are refused", async () => {
    const registry = registryOf();
    // @ts-expect-error an id is a string
    expect((await rejectionOf(registry.undo(1))).type).toBe("InvalidOptions");
    // @ts-expect-error a session is a string
    expect((await rejectionOf(registry.undo("a", { sessionId: 1 }))).type).toBe("InvalidOptions");
    await registry.close();
    expect((await rejectionOf(registry.undo("a"))).type).toBe("RegistryClosed");
  });

  test("two simultaneous undos of one call restore the file once", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one");
    await registry.call("Read", { file_path: path });
    await registry.call("Write", { file_path: path, content: "two" }, { toolUseId: "w" });
    const settled = await Promise.allSettled([registry.undo("w"), registry.undo("w")]);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(readFileSync(path, "utf8")).toBe("one");
  });
});
