// Runs before every test file: gives it a separate data directory, so that no test uses the user's store or
// values of another test.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const directory = mkdtempSync(join(realpathSync(tmpdir()), "toolwright-data-"));
process.env["XDG_DATA_HOME"] = directory;

afterAll(() => rmSync(directory, { recursive: true, force: true }));
