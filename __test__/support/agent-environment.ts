import { mkdirSync } from "node:fs";
import type { LoopbackMessagesApi } from "./loopback-messages-api.js";
import type { Workspace } from "./workspace.js";

/**
 * The environment of an agent that uses only the loopback model, and writes only to the workspace. Its tool
 * search stays on: tools that are hidden by default are hidden here too.
 */
export function agentEnvironment(
  model: LoopbackMessagesApi,
  workspace: Workspace,
): Record<string, string> {
  const [home, temporary] = [workspace.path(".agent/home"), workspace.path(".agent/tmp")];
  for (const folder of [home, temporary]) mkdirSync(folder, { recursive: true });
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    USERPROFILE: home,
    TMPDIR: temporary,
    TEMP: temporary,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    IS_SANDBOX: "1",
  };
}
