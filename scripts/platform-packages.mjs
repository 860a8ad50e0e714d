// Generates the platform packages in npm/. Each contains one build of the addon. Their metadata are generated
// from package.json and checked for drift. The licences are added only for publishing:
//
//   node scripts/platform-packages.mjs [folder]     copies LICENSE and NOTICE.md into each package
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./command.mjs";

const main = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The fields of package.json that are copied from the main package. */
const SHARED = [
  "version",
  "description",
  "keywords",
  "homepage",
  "bugs",
  "license",
  "author",
  "repository",
  "publishConfig",
  "engines",
];
/** The files that have to be distributed with the binary. */
const LICENCES = ["LICENSE", "NOTICE.md"];

const SYSTEMS = { linux: "linux", darwin: "darwin", windows: "win32" };
const PROCESSORS = { x86_64: "x64", aarch64: "arm64" };
const LIBCS = { gnu: "glibc", musl: "musl" };

/** The platforms, derived from the names of Rust's targets in package.json. */
export const platforms = main.napi.targets.map((target) => {
  const [processor, , system, abi] = target.split("-");
  const [os, cpu] = [SYSTEMS[system], PROCESSORS[processor]];
  return { build: [os, cpu, abi].filter(Boolean).join("-"), target, os, cpu, libc: LIBCS[abi] };
});

/** The expected content of each file of the packages, by its path in the repository. */
export function platformFiles() {
  return Object.fromEntries(
    platforms.flatMap((platform) => [
      [`npm/${platform.build}/package.json`, packageJson(platform)],
      [`npm/${platform.build}/README.md`, readme(platform)],
    ]),
  );
}

function packageJson({ build, os, cpu, libc }) {
  const addon = `${main.napi.binaryName}.${build}.node`;
  const shared = Object.fromEntries(SHARED.map((field) => [field, main[field]]));
  const { version, publishConfig, engines, ...about } = shared;
  const description = {
    name: `${main.name}-${build}`,
    version,
    ...about,
    files: [addon, ...(os === "linux" ? ["toolwright-supervisor"] : []), ...LICENCES],
    main: addon,
    publishConfig,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: [libc] }),
    engines,
  };
  return `${JSON.stringify(description, null, 2)}\n`;
}

function readme({ build, target }) {
  return (
    `# ${main.name}-${build}\n\n` +
    `The build of [${main.name}](${main.homepage}) for ${target}. ` +
    `\`npm install ${main.name}\` installs it where it is needed.\n`
  );
}

/** Copies the licences into every package in a folder. */
export function addLicences(folder) {
  for (const { build } of platforms) {
    for (const file of LICENCES) copyFileSync(join(root, file), join(folder, build, file));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  addLicences(process.argv[2] ?? join(root, "npm"));
}
