// Writes the generated files that are committed, from the last build of the addon. `--check` only compares.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./command.mjs";
import { notice } from "./crates.mjs";
import { optionsDocument } from "./options-document.mjs";
import { platformFiles } from "./platform-packages.mjs";
import { toolInputs, toolOutputs } from "./schema-to-typescript.mjs";
import { buildDir } from "./setup.mjs";

/** What each generated file must contain, by its path in the repository. */
function expectedFiles() {
  const loader = join(buildDir, "binding.js");
  if (!existsSync(loader))
    throw new Error(`there is no build in \`${buildDir}\`; run \`node scripts/setup.mjs\` first`);
  const addon = createRequire(import.meta.url)(loader);
  const specs = JSON.parse(addon.toolSpecs());
  return {
    "native/binding.js": readFileSync(loader, "utf8"),
    "native/binding.d.ts": readFileSync(join(buildDir, "binding.d.ts"), "utf8"),
    "lib/generated/tool-inputs.d.ts": toolInputs(specs),
    "lib/generated/tool-outputs.d.ts": toolOutputs(specs),
    "schema/plugin.schema.json": `${JSON.stringify(pluginSchema(addon), null, 2)}\n`,
    "NOTICE.md": notice(),
    "docs/options.md": optionsDocument(),
    ...platformFiles(),
  };
}

/** The schema of plugin files, which editors find by `$schema`. */
function pluginSchema(addon) {
  const { $schema, ...rest } = JSON.parse(addon.pluginSchema());
  return { $schema, $id: "https://unpkg.com/toolwright/schema/plugin.schema.json", ...rest };
}

export function writeGenerated() {
  for (const [file, wanted] of Object.entries(expectedFiles())) {
    if (current(file) === wanted) continue;
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
    console.log(`wrote ${file}`);
  }
}

export function checkGenerated() {
  const stale = Object.entries(expectedFiles()).filter(
    ([file, wanted]) => current(file) !== wanted,
  );
  for (const [file, wanted] of stale) console.error(firstDifference(file, current(file), wanted));
  if (stale.length > 0) {
    throw new Error(
      `${stale.map(([file]) => `\`${file}\``).join(", ")}: not what the source generates; run \`npm run build\` and commit the result`,
    );
  }
  console.log("generated files are up to date");
}

function current(file) {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function firstDifference(file, have, want) {
  if (have === undefined) return `${file}: missing`;
  const [old, fresh] = [have.split("\n"), want.split("\n")];
  const at = fresh.findIndex((line, index) => line !== old[index]);
  const from = at === -1 ? fresh.length : at;
  const shown = (lines, mark) => lines.slice(from, from + 5).map((line) => `${mark} ${line}`);
  return [`${file}: differs from line ${from + 1}`, ...shown(old, "-"), ...shown(fresh, "+")].join(
    "\n",
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    if (process.argv.includes("--check")) checkGenerated();
    else writeGenerated();
  } catch (error) {
    console.error(`generate failed: ${error.message}`);
    process.exitCode = 1;
  }
}
