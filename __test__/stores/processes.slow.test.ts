// The shared stores, against real servers: eight processes that change the same values lose no change.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runScript } from "../support/runtimes.js";
import { describeWithServer } from "../support/store-servers.js";

const PROCESSES = 8;
const CHANGES = 1_000;
const host = fileURLToPath(new URL("../hosts/store-changes.mjs", import.meta.url));

for (const server of ["redis", "postgres"] as const) {
  describeWithServer(server, (servers, clients) => {
    test(
      "loses no change of eight processes with different clients that start with an empty store",
      { timeout: 600_000 },
      async () => {
        const settings = servers.newPlace();
        const names = Array.from({ length: PROCESSES }, (_, index) => String(index));
        const ended = await Promise.all(
          names.map((name, index) => {
            const client = clients[index % clients.length];
            const { url } = servers.server;
            const task = { server, client, url, settings, name, changes: CHANGES };
            return runScript(process.execPath, [host, JSON.stringify(task)], undefined, 500_000);
          }),
        );
        expect(ended).toEqual(names.map(() => ({ code: 0, signal: null, stdout: "", stderr: "" })));

        const store = await servers.open(clients[0] ?? "", settings);
        expect((await store.get("counter"))?.value).toBe(String((PROCESSES * CHANGES) / 2));
        const list: string[] = JSON.parse((await store.get("list"))?.value ?? "[]");
        // Each once, and those of one process in order.
        const wanted = names.map((name) =>
          Array.from({ length: CHANGES / 2 }, (_, index) => `${name}:${index * 2 + 1}`),
        );
        const found = names.map((name) => list.filter((entry) => entry.startsWith(`${name}:`)));
        expect(found).toEqual(wanted);
        expect(list).toHaveLength(wanted.flat().length);
      },
    );
  });
}
