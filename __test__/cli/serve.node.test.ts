// `toolwright serve`: prints a working address, and ends with Ctrl-C.
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { CommandLine, hasTerminals } from "../support/command-line.js";
import { runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

interface Served {
  url: string;
  origin: string;
  host: string;
  port: number;
  token: string;
  mcp: { url: string; headers: { Authorization: string } };
}

describe.each(runtimes)("on $name", ({ path }) => {
  const cli = new CommandLine(path, workspace);

  test("the printed address answers until a signal ends the server, with exit code 0", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const running = cli.start(["serve", "--json"]);
      await running.wrote(/\}\n/);
      const { url, origin, port, token, mcp } = JSON.parse(running.stdout) as Served;
      expect(origin).toBe(`http://127.0.0.1:${port}`);
      expect(url).toBe(`${origin}/#token=${token}`);
      // An MCP client gets a token that is valid for nothing else.
      expect(mcp.url).toBe(`${origin}/mcp`);
      expect(mcp.headers.Authorization).toMatch(/^Bearer mcp-[\w-]{43}$/);
      expect((await fetch(`${origin}/api/tools`, { headers: mcp.headers })).status).toBe(401);
      const health = await fetch(`${origin}/health`);
      expect(await health.json()).toMatchObject({ status: "ok" });
      running.signal(signal);
      expect((await running.ended).code).toBe(0);
      await expect(fetch(`${origin}/health`)).rejects.toThrow(/fetch failed|connect/i);
    }
  });

  test("only the address for a person is on standard output, unless --mcp is given", async () => {
    /** The output of a server that was started and then stopped. */
    const written = async (...words: string[]) => {
      const running = cli.start(["serve", ...words]);
      await running.wrote("Ctrl-C stops");
      running.signal("SIGINT");
      return running.ended;
    };
    const { stdout, stderr } = await written();
    expect(stdout).toMatch(/^ {2}http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/);
    expect(stderr).toContain(`toolwright serves the tools of ${workspace.root}\n`);
    const more = await written("--mcp");
    const config = JSON.parse(more.stdout.slice(more.stdout.indexOf("{"))) as object;
    expect(config).toMatchObject({ mcpServers: { toolwright: { type: "http" } } });
  });

  test("the token comes from the option or from TOOLWRIGHT_TOKEN", async () => {
    for (const [words, variables] of [
      [["--token", "a-token-of-my-own"], {}],
      [[], { TOOLWRIGHT_TOKEN: "a-token-of-my-own" }],
    ] as [string[], Record<string, string>][]) {
      const running = cli.start(["serve", ...words], variables);
      await running.wrote("Ctrl-C stops");
      running.signal("SIGINT");
      expect((await running.ended).stdout).toMatch(/\/#token=a-token-of-my-own\n$/);
    }
  });

  test("a port in use, and a public address without a token, are refused", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const busy = await cli.run(["serve", "--port", `${port}`]);
    await new Promise((resolve) => taken.close(resolve));
    expect({ code: busy.code, stdout: busy.stdout }).toEqual({ code: 1, stdout: "" });
    expect(busy.stderr).toMatch(new RegExp(`^toolwright: .*${port}`));
    const open = await cli.run(["serve", "--host", "0.0.0.0"]);
    expect(open.code).toBe(1);
    expect(open.stderr).toMatch(/^toolwright: .*token/);
  });

  test.runIf(hasTerminals)("Ctrl-C on a terminal stops it", async () => {
    const running = cli.startOnTerminal(["serve"]);
    await running.wrote("Ctrl-C stops");
    running.type("\u0003");
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/stopped\r\n$/);
  });
});
