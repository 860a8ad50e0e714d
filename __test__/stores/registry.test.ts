// The shared stores as the option `store`: values of one registry are visible in the others.
import { describe, expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { describeWithServer } from "../support/store-servers.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

for (const server of ["redis", "postgres"] as const) {
  describeWithServer(server, (servers, clients) => {
    /** Two registries, each with its own connection, like two processes. */
    const pair = async (client: string, timeoutMs = 60_000) => {
      const place = servers.newPlace();
      const stores = [
        await servers.open(client, { ...place, timeoutMs }),
        await servers.open(client, place),
      ] as const;
      return [registryHere({ store: stores[0] }), registryHere({ store: stores[1] })] as const;
    };

    describe.each(clients)("with %s", (client) => {
      test("shares memories among registries", async () => {
        const [one, other] = await pair(client);
        const set = (key: string) => ({
          action: "set",
          key,
          value: `value of ${key}`,
          scope: "user",
        });
        await one.call<string>("memory", set("ﬀ"));
        await other.call<string>("memory", set("😀"));
        await one.call<string>("memory", set("a%"));
        expect(await other.call<string>("memory", { action: "list", scope: "user" })).toMatchObject(
          {
            structuredContent: { keys: ["a%", "ﬀ", "😀"], total: 3, complete: true },
          },
        );
        expect(
          await other.call<string>("memory", { action: "get", key: "ﬀ", scope: "user" }),
        ).toMatchObject({
          structuredContent: { found: true, value: "value of ﬀ" },
        });
        await other.call<string>("memory", { action: "delete", key: "ﬀ", scope: "user" });
        expect(
          await one.call<string>("memory", { action: "get", key: "ﬀ", scope: "user" }),
        ).toMatchObject({
          structuredContent: { found: false },
        });
        expect(
          await one.call<string>("memory", {
            action: "set",
            key: "k",
            value: "a\0b",
            scope: "user",
          }),
        ).toMatchObject({
          isError: true,
          error: { message: expect.stringContaining("the value has a NUL character") },
        });
      });

      test("loses no todo that registries add at the same time", async () => {
        const registries = await pair(client);
        const tasks = Array.from({ length: 40 }, (_, index) => `task ${index}`);
        const added = await Promise.all(
          tasks.map((task, index) =>
            registries[index % 2 === 0 ? 0 : 1].call<string>("write_todos", {
              action: "add",
              task,
            }),
          ),
        );
        expect(added.filter(({ isError }) => isError)).toEqual([]);
        const listed = await registries[0].call<string>("write_todos", {
          action: "list",
        });
        const { todos } = listed.structuredContent as { todos: { id: string; task: string }[] };
        expect(todos.map(({ task }) => task).sort()).toEqual([...tasks].sort());
        expect(new Set(todos.map(({ id }) => id)).size).toBe(tasks.length);
      });
    });

    test.each(clients.filter((client) => client !== "pg Client"))(
      "reports to a model that the server is down, and works when it is back, with %s",
      async (client) => {
        const [registry, patient] = await pair(client, 2_000);
        const memory = (input: object) =>
          registry.call<string>("memory", { scope: "user", ...input });
        const kept = { action: "set", key: "kept", value: "value", scope: "user" };
        expect((await patient.call<string>("memory", kept)).isError).toBeUndefined();
        await servers.server.kill();
        try {
          expect(await memory({ action: "get", key: "kept" })).toMatchObject({
            isError: true,
            error: {
              type: "MemoryError",
              message: expect.stringMatching(
                /^the store in (?:Redis|PostgreSQL) (?:failed: .|did not answer within 2000 ms)/,
              ),
            },
          });
        } finally {
          await servers.server.start();
        }
        let answer = await memory({ action: "get", key: "kept" });
        while (answer.isError) answer = await memory({ action: "get", key: "kept" });
        expect(answer).toMatchObject({ structuredContent: { found: true, value: "value" } });
      },
    );
  });
}
