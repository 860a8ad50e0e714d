// Other libraries that search. Each is optional: one that is not installed is skipped with a message.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Loads the installed peers, from this repository or from a folder with its own `node_modules`.
 *
 * @param {string | undefined} folder
 * @param {(text: string) => void} say
 */
export async function loadPeers(folder, say) {
  const places = [import.meta.url, ...(folder ? [pathToFileURL(join(folder, "x.js")).href] : [])];
  const find = (name) => {
    for (const place of places) {
      try {
        return createRequire(place).resolve(name);
      } catch {
        // Not installed here, or only for `import`; the next attempt may find it.
      }
    }
    const folders = [root, ...(folder ? [folder] : [])].map((it) => join(it, "node_modules", name));
    for (const place of folders) {
      if (!existsSync(join(place, "package.json"))) continue;
      const { main } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
      return join(place, main);
    }
    say(`${name} is not installed and left out`);
    return undefined;
  };
  const load = async (name) => {
    const path = find(name);
    if (!path) return undefined;
    try {
      return path.endsWith(".node")
        ? createRequire(path)(path)
        : await import(pathToFileURL(path).href);
    } catch (error) {
      say(`${name} does not load and is left out: ${error.message}`);
      return undefined;
    }
  };
  const platform = `${process.platform}-${process.arch}`;
  const rg = find(`@vscode/ripgrep-${platform}/bin/rg`);
  return {
    rg: rg && ripgrep(rg),
    pi: await load(`@oh-my-pi/pi-natives-${platform}/pi_natives.${platform}-modern.node`),
    fastGlob: (await load("fast-glob"))?.default,
    tinyglobby: await load("tinyglobby"),
    fff: (await load("@ff-labs/fff-node"))?.FileFinder,
  };
}

/** ripgrep as a host without native search uses it: as a child process, with its output as text. */
function ripgrep(path) {
  return async (cwd, args) => {
    try {
      const options = { cwd, maxBuffer: 1024 * 1024 * 1024 };
      return (await run(path, ["--no-config", "--hidden", ...args, "./"], options)).stdout;
    } catch (error) {
      if (error.code === 1) return "";
      throw error;
    }
  };
}
