// Runs before every test file: gives it a data directory of its own, so that no test meets the user's store,
// or what another test has stored.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const directory = mkdtempSync(join(realpathSync(tmpdir()), "toolwright-data-"));
process.env["XDG_DATA_HOME"] = directory;

afterAll(() => rmSync(directory, { recursive: true, force: true }));
