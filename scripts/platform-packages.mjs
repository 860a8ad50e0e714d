// The packages of the platforms, in npm/: each holds one build of the addon. What they say of themselves
// follows from package.json and is checked for drift; licences are put in when they are published:
//
//   node scripts/platform-packages.mjs [folder]     puts LICENSE and NOTICE.md into each package
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./command.mjs";

const main = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** What a package says of itself in the same words as the main one. */
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
/** What has to be with the binary wherever it goes. */
const LICENCES = ["LICENSE", "NOTICE.md"];

const SYSTEMS = { linux: "linux", darwin: "darwin", windows: "win32" };
const PROCESSORS = { x86_64: "x64", aarch64: "arm64" };
const LIBCS = { gnu: "glibc", musl: "musl" };

/** Each platform by the name of its build, from Rust's name for it. */
export const platforms = main.napi.targets.map((target) => {
  const [processor, , system, abi] = target.split("-");
  const [os, cpu] = [SYSTEMS[system], PROCESSORS[processor]];
  return { build: [os, cpu, abi].filter(Boolean).join("-"), target, os, cpu, libc: LIBCS[abi] };
});

/** What each file of the packages must contain, by its path in the repository. */
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

/** Puts the licences into every package in a folder. */
export function addLicences(folder) {
  for (const { build } of platforms) {
    for (const file of LICENCES) copyFileSync(join(root, file), join(folder, build, file));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  addLicences(process.argv[2] ?? join(root, "npm"));
}
