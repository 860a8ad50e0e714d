// Starts agents of the Claude Agent SDK like the SDK itself, and waits for their end after each test. An aborted
// agent runs for a moment longer, and would write into the workspace while it is removed.
import { spawn } from "node:child_process";
import type { Options, SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";
import { afterEach } from "vitest";
import { deferred } from "./promises.js";

type Spawn = NonNullable<Options["spawnClaudeCodeProcess"]>;

interface AgentProcesses {
  /** The option `spawnClaudeCodeProcess`. */
  start(how: Parameters<Spawn>[0]): SpawnedProcess;
  /** Resolves when every agent of the test has exited. */
  ended(): Promise<void>;
}

export function useAgentProcesses(): AgentProcesses {
  const exits: Promise<void>[] = [];
  const ended = async () => void (await Promise.all(exits));
  afterEach(async () => {
    await ended();
    exits.length = 0;
  });
  return {
    start({ command, args, ...options }) {
      const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "ignore"] });
      const exit = deferred();
      exits.push(exit.promise);
      child.once("exit", () => exit.resolve());
      // A process that could not be started needs no waiting.
      child.once("error", () => child.pid ?? exit.resolve());
      return child;
    },
    ended,
  };
}
