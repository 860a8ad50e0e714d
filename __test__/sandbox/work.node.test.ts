// Ordinary work succeeds in the sandbox as it does without one, even while rules hide files.
import { createServer } from "node:http";
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { people, plantWays, prepare, runLine, waysOf, works } from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const jobs = waysOf("work.txt");

const FILL = `
  printf '.env\\nsecrets\\n' > .gitignore
  echo TOKEN=x > .env
  mkdir secrets; echo x > secrets/key.txt
  git -c init.defaultBranch=main init -q
  printf '#!/bin/sh\\ntouch hook-ran\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
  echo text > notes.txt
  echo hook-ran >> .gitignore; echo way.sh >> .gitignore
  git add notes.txt .gitignore
  git -c user.name=a -c user.email=a@a commit -qm first
  rm hook-ran
`;

const RULES = { deny: ["Read(.env)", "Read(**/secrets/**)"] };

/** An npm registry with one package of one file. */
const registry = createServer((request, response) => {
  const { port } = registry.address() as AddressInfo;
  const tarball = `http://127.0.0.1:${port}/tiny-local-package-1.0.0.tgz`;
  if (request.url?.endsWith(".tgz")) response.end(packed);
  else if (request.url === "/tiny-local-package") {
    const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
    const version = { name: "tiny-local-package", version: "1.0.0", dist: { tarball, integrity } };
    const versions = { "1.0.0": version };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ name: version.name, "dist-tags": { latest: "1.0.0" }, versions }),
    );
  } else response.writeHead(404).end();
});
let packed = Buffer.alloc(0);

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    registry.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(() => void registry.close());

/** The environment of the jobs. */
function environment(): Record<string, string> {
  const { port } = registry.address() as AddressInfo;
  return {
    LOCAL_REGISTRY: `http://127.0.0.1:${port}`,
    CARGO_HOME: process.env["CARGO_HOME"] ?? join(homedir(), ".cargo"),
    RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup"),
  };
}

function pack() {
  const manifest = { name: "tiny-local-package", version: "1.0.0", main: "index.js" };
  workspace.write("packed/package/package.json", JSON.stringify(manifest));
  workspace.write("packed/package/index.js", 'module.exports = "tiny";');
  prepare("tar czf packed.tgz -C packed package", workspace.root);
  packed = readFileSync(workspace.path("packed.tgz"));
}

describe.each(people)("$name", (person) => {
  test("does ordinary work while rules hide files", async () => {
    pack();
    const env = environment();
    const wanted = jobs.filter((job) => works(job, person, workspace.root, env));
    const folders = plantWays(wanted, workspace.root, FILL, person);
    const host = { person, home: workspace.path("home"), env };
    const options = { policy: RULES, sandbox: "required" };
    const ended = await runLine(host, "bash -e ./way.sh", folders.values(), options);
    const failed = wanted.flatMap(({ name }, at) => {
      const { facts, text, error } = ended[at] ?? {};
      return facts?.["exitCode"] === 0 ? [] : [{ name, text, error }];
    });
    expect(failed).toEqual([]);
    expect([...new Set(ended.map(({ facts }) => facts?.sandbox?.["level"]))]).toEqual([
      "namespaces",
    ]);
  });
});
