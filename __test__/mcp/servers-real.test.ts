// Real servers from npm by other authors, connected to one registry.
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const require = createRequire(import.meta.url);
const program = (name: string) =>
  require
    .resolve(`@modelcontextprotocol/${name}/package.json`)
    .replace("package.json", "dist/index.js");

test("server-filesystem and server-everything work together with our own tools", async () => {
  workspace.write("a.txt", "from a file\n");
  const registry = registryHere({
    mcpServers: {
      files: { command: "node", args: [program("server-filesystem"), workspace.root] },
      everything: { command: "node", args: [program("server-everything"), "stdio"] },
    },
  });
  expect(await registry.initialize()).toMatchObject({ success: true, errors: [] });

  const read = await registry.call("mcp__files__read_text_file", { path: workspace.path("a.txt") });
  expect(texts(read)).toEqual(["from a file\n"]);
  const outside = await registry.call("mcp__files__read_text_file", { path: "/etc/passwd" });
  expect(outside).toMatchObject({ isError: true });
  await registry.call("mcp__files__write_file", { path: workspace.path("b.txt"), content: "b" });
  expect(texts(await registry.call("Read", { file_path: "b.txt" })).join("")).toContain("b");

  expect(texts(await registry.call("mcp__everything__echo", { message: "hi" }))).toEqual([
    "Echo: hi",
  ]);
  expect(await registry.call("mcp__everything__get-sum", { a: 2, b: 3 })).toMatchObject({
    content: [{ type: "text", text: expect.stringContaining("5") as string }],
  });
  const picture = await registry.call("mcp__everything__get-tiny-image", {});
  expect(picture.content.map(({ type }) => type)).toContain("image");
  const data = await registry.call("mcp__everything__get-structured-content", {
    location: "Chicago",
  });
  expect(data.structuredContent).toMatchObject({ temperature: expect.any(Number) as number });
  const steps: number[] = [];
  await registry.call(
    "mcp__everything__trigger-long-running-operation",
    { duration: 0.2, steps: 4 },
    { onProgress: (news) => void (news.type === "step" && steps.push(news.progress)) },
  );
  expect(steps).toEqual([1, 2, 3, 4]);
  const listed = await registry.call("ListMcpResources", { server: "everything" });
  expect(listed.structuredContent?.templates?.map((it) => it.uriTemplate)).toContain(
    "demo://resource/dynamic/text/{resourceId}",
  );
  const resource = await registry.call("ReadMcpResource", {
    server: "everything",
    uri: "demo://resource/dynamic/text/3",
  });
  expect(texts(resource).join("")).toContain("Resource 3");
});
