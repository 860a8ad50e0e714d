// The official clients of both eras against our server, over HTTP and over standard streams.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { registerPeerTools } from "../hosts/mcp-peer.mjs";
import {
  type Connect,
  type Peer,
  type PeerOptions,
  connectNewClient,
  connectNewestClient,
  connectOldClient,
} from "../support/mcp-peers.js";
import { PNG } from "../support/pictures.js";
import { alive, eventually, marker } from "../support/processes.js";
import { deferred, rejection } from "../support/promises.js";
import { useAskingRegistries } from "../support/registries.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);
const peers: Peer[] = [];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
});

/** Connects a client to a registry with the given options. */
type Reach = (
  connect: Connect,
  options?: ToolRegistryOptions,
  peerOptions?: PeerOptions,
) => Promise<Peer>;

function registryHere(options: ToolRegistryOptions = {}): ToolRegistry {
  const registry = registryOf({ toolsets: ["claude"], ...options });
  registerPeerTools(registry);
  return registry;
}

const overHttp: Reach = async (connect, options, peerOptions) => {
  const { origin, token } = await registryHere(options).serve();
  return kept(await connect({ url: `${origin}/mcp`, token }, peerOptions));
};

const overStdio: Reach = async (connect, options, peerOptions) => {
  const whole = {
    projectPath: workspace.root,
    toolsets: ["claude"],
    userPolicyFile: false,
    ...options,
  };
  const args = [join(root, "__test__/hosts/mcp-peer.mjs"), JSON.stringify(whole)];
  const env = { PATH: process.env["PATH"] ?? "", HOME: workspace.root };
  const program = { command: process.execPath, args, cwd: workspace.root, env };
  return kept(await connect(program, peerOptions));
};

function kept(peer: Peer): Peer {
  peers.push(peer);
  return peer;
}

const OLD = ["the client of SDK 1", connectOldClient, "2025-11-25"] as const;
const NEW = ["the client of SDK 2", connectNewClient, "2025-11-25"] as const;
const NEWEST = [
  "the client of SDK 2 in the newest era",
  connectNewestClient,
  "2026-07-28",
] as const;
const TRANSPORTS = [
  ["HTTP", overHttp],
  ["stdio", overStdio],
] as const;
const PEERS = [OLD, NEW, NEWEST].flatMap(([title, connect, version]) =>
  TRANSPORTS.map(([transport, reach]) => [title, connect, version, transport, reach] as const),
);

describe.each(PEERS)("%s", (_title, connect, version, transport, reach) => {
  test(`lists the tools over ${transport}, in the version it asked for`, async () => {
    const peer = await reach(connect);
    expect(peer.version).toBe(version);
    expect(peer.serverName).toBe("toolwright");
    const tools = await peer.listTools();
    expect(tools.map(({ name }) => name)).toEqual(registryHere().names());
  });

  test(`reads text, a picture and a missing file over ${transport}, like the host`, async () => {
    const registry = registryHere();
    const peer = await reach(connect);
    for (const file_path of [
      workspace.write("notes.txt", "alpha\nbéta\n"),
      workspace.write("pixel.png", Buffer.from(PNG, "base64")),
      workspace.path("missing.txt"),
    ]) {
      const { content, isError = false } = await peer.callTool("Read", { file_path });
      const direct = await registry.call("Read", { file_path });
      expect(content).toEqual(direct.content);
      expect(isError).toBe(file_path.endsWith("missing.txt"));
    }
    expect(await rejection(peer.callTool("NoSuchTool", {}))).toMatchObject({ code: -32602 });
  });

  test(`gets progress over ${transport}`, async () => {
    const peer = await reach(connect);
    const heard: number[] = [];
    const all = deferred();
    const onprogress = ({ progress }: { progress: number }) => {
      if (heard.push(progress) === 3) all.resolve();
    };
    // The clients drop pending progress when the result arrives, so the result comes later.
    const walk = peer.callTool("walk", {}, { onprogress });
    await all.promise;
    await peer.callTool("arrive", {});
    await walk;
    expect(heard).toEqual([1, 2, 3]);
  });

  test(`ends a command by aborting its call over ${transport}, and another by disconnecting`, async () => {
    const peer = await reach(connect, { permissionMode: "bypassPermissions" });
    const [first, second] = [marker(), marker()];
    const controller = new AbortController();
    const aborted = rejection(
      peer.callTool("Bash", { command: `sleep ${first}` }, { signal: controller.signal }),
    );
    // Its answer may arrive before the end of the connection.
    const left = peer.callTool("Bash", { command: `sleep ${second}` }).catch(() => undefined);
    for (const id of [first, second]) {
      expect(await eventually(() => alive(id).length > 0, 30_000)).toBe(true);
    }
    controller.abort();
    await aborted;
    expect(await eventually(() => alive(first).length === 0, 30_000)).toBe(true);
    expect(alive(second)).toHaveLength(1);
    await peer.close();
    await left;
    expect(await eventually(() => alive(second).length === 0, 30_000)).toBe(true);
  });

  test(`is notified over ${transport} of a new tool`, async () => {
    const heard = deferred<string[]>();
    const onToolsChanged = (names: string[]) => {
      if (names.includes("late")) heard.resolve(names);
    };
    const peer = await reach(connect, {}, { onToolsChanged });
    await peer.callTool("grow", {});
    expect(await heard.promise).toEqual((await peer.listTools()).map(({ name }) => name));
  });

  test(`asks its user over ${transport}, and only an approval counts as a yes`, async () => {
    const questions: string[] = [];
    const answers = [
      { action: "accept", content: { approve: true } },
      { action: "accept", content: { approve: false } },
      { action: "decline" },
    ] as const;
    const elicit = (message: string) =>
      answers[questions.push(message) - 1] ?? { action: "decline" as const };
    const peer = await reach(connect, {}, { elicit });
    for (const [index, isWritten] of [true, false, false].entries()) {
      const file_path = workspace.path(`${index}.txt`);
      const result = await peer.callTool("Write", { file_path, content: "hello" });
      expect(questions).toHaveLength(index + 1);
      expect(questions[index]).toContain(`${index}.txt`);
      expect(result.isError ?? false).toBe(!isWritten);
      expect(existsSync(file_path)).toBe(isWritten);
    }
  });
});

test.each([OLD, NEW, NEWEST])(
  "%s has no way to ask, so the host is asked",
  async (_title, connect) => {
    const registry = registryHere();
    const { origin, token } = await registry.serve();
    const peer = kept(await connect({ url: `${origin}/mcp`, token }));
    const decisions = [true, false];
    registry.messageBus.on("request", ({ id }) => {
      registry.messageBus.respondToConfirmation({ id, approved: decisions.shift() ?? false });
    });
    for (const isWritten of [true, false]) {
      const file_path = workspace.path(`${isWritten}.txt`);
      const result = await peer.callTool("Write", { file_path, content: "hello" });
      expect(result.isError ?? false).toBe(!isWritten);
      expect(existsSync(file_path)).toBe(isWritten);
    }
  },
);
