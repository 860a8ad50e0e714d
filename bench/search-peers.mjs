// Those who search too. Each is optional: what is not installed is left out, with a word.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Loads what is there, from this repository or from a folder with a `node_modules` of its own.
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
        // Not there, or for `import` only; the next look may find it.
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

/** ripgrep as a host without a native search uses it: a child process, its output as text. */
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
