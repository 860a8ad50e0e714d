// toolwright as npm installs it: the main package and the platform's package in node_modules.
import { cpSync, linkSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root } from "./runtimes.js";

const readJson = (path: string) =>
  JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
const main = readJson(join(root, "package.json")) as { version: string; files: string[] };

/** The addon that these tests run with. */
export const addonPath = join(
  root,
  "native",
  readdirSync(join(root, "native")).find((name) => /^toolwright\.[\w-]+\.node$/.test(name)) ?? "",
);
/** The name of its build, as in `linux-x64-gnu`. */
export const build = basename(addonPath).split(".")[1] ?? "";
export const supervisorPath = join(root, "native", "toolwright-supervisor");
export const version = main.version;

/** Links a file instead of copying it, because the addon of a debug build is large. */
export function place(file: string, destination: string): string {
  mkdirSync(dirname(destination), { recursive: true });
  try {
    linkSync(file, destination);
  } catch {
    cpSync(file, destination);
  }
  return destination;
}

/** Puts the main package into a project's node_modules. */
export function installMain(project: string, changes: object = {}): void {
  const folder = join(project, "node_modules", "toolwright");
  mkdirSync(join(folder, "native"), { recursive: true });
  for (const file of main.files) cpSync(join(root, file), join(folder, file), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...main, ...changes }));
}

/** Puts the package.json of a platform's package into a project's node_modules; returns its folder. */
export function installPlatform(project: string, name = build): string {
  const folder = join(project, "node_modules", `toolwright-${name}`);
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "npm", name, "package.json"), join(folder, "package.json"));
  return folder;
}

/** Everything that `npm install toolwright` installs. */
export function installToolwright(project: string): void {
  installMain(project);
  const folder = installPlatform(project);
  place(addonPath, join(folder, basename(addonPath)));
  if (process.platform === "linux") place(supervisorPath, join(folder, basename(supervisorPath)));
}
