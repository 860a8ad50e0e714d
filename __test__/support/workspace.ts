import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A separate directory for each test, removed after the test. */
export class Workspace {
  #root: string | undefined;

  /** Without links in it, so that paths in messages can be compared. */
  get root(): string {
    if (this.#root === undefined) throw new Error("the workspace exists only while a test runs");
    return this.#root;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Writes a file with its parent directories, and returns its absolute path. */
  write(name: string, content: string | Uint8Array): string {
    const file = this.path(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  plant(files: Record<string, string | Uint8Array>): void {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  delete(name: string): void {
    rmSync(this.path(name), { recursive: true, force: true });
  }

  create(): void {
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
    this.#root = undefined;
  }
}

export function useWorkspace(): Workspace {
  const workspace = new Workspace();
  beforeEach(() => workspace.create());
  afterEach(() => workspace.remove());
  return workspace;
}
