"use strict";

// Explains why the addon does not load, and what to do about it. It inspects the system itself, because
// the loader's errors only list every place that it tried.

/** @typedef {{ words: string, cause?: unknown }} Failure the explanation, and the error behind it */

const { accessSync, constants, existsSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { engines } = require("../../package.json");
const {
  BUILDS,
  addonFile,
  buildName,
  glibcVersion,
  isBundled,
  packageFolder,
  programFolders,
} = require("./platform.js");

const REINSTALL = "remove node_modules and install again";

/**
 * The error for an addon that does not load. `loaderError` is what napi's loader threw.
 *
 * @param {unknown} loaderError
 */
function loadFailure(loaderError) {
  const { words, cause } = wrongSystem() ?? wrongFile(loaderError) ?? nothingThere(buildName());
  return new Error(`toolwright's native addon does not load on ${here()}: ${words}`, {
    cause: cause ?? new Error(allWords(loaderError)),
  });
}

/**
 * The error for an addon of another version.
 *
 * @param {string} wanted
 * @param {string | undefined} found
 */
function versionFailure(wanted, found) {
  const build = buildName();
  const path = placesOf(build).find(existsSync) ?? addonFile(build);
  return new Error(
    `toolwright ${wanted} needs an addon of the same version, but \`${path}\` is of version ${found ?? "unknown"}; ` +
      (isBundled()
        ? "copy the file from the package that was bundled"
        : `${REINSTALL}; in a clone, run \`npm run build\``),
  );
}

/** This system: the name of its build, and the versions that decide whether an addon loads. */
function here() {
  const glibc = glibcVersion();
  const { bun } = process.versions;
  const runtime = bun ? `Bun ${bun}` : `Node.js ${process.versions.node}`;
  return `${buildName()} (${glibc ? `glibc ${glibc}, ` : ""}${runtime})`;
}

/** @returns {Failure | undefined} */
function wrongSystem() {
  const build = buildName();
  if (!BUILDS.includes(build)) {
    return {
      words: `there is no build for ${build}; there are builds for ${BUILDS.join(", ")}; run it on one of these, or build it from source`,
    };
  }
  const wanted = Number(/\d+/.exec(engines.node)?.[0]);
  if (!process.versions.bun && Number.parseInt(process.versions.node, 10) < wanted) {
    // npm silently skips a platform's package if its `engines` do not fit.
    return { words: `it needs Node.js ${wanted} or newer; update Node.js, then install again` };
  }
  return undefined;
}

/**
 * Explains why the first file that exists does not load; `undefined` if there is no file.
 *
 * @param {unknown} loaderError
 * @returns {Failure | undefined}
 */
function wrongFile(loaderError) {
  const override = process.env.NAPI_RS_NATIVE_LIBRARY_PATH;
  if (override) {
    /** @type {Failure} */
    const { words, cause } = existsSync(override)
      ? whyNot(override, loaderError)
      : { words: `there is no file \`${override}\`` };
    const named = "named by the variable NAPI_RS_NATIVE_LIBRARY_PATH; unset it, or correct it";
    return { words: `${words} (${named})`, cause };
  }
  const path = placesOf(buildName()).find(existsSync);
  return path === undefined ? undefined : whyNot(path, loaderError);
}

/**
 * Where the addon may be, in the order in which it is searched.
 *
 * @param {string} build
 */
function placesOf(build) {
  const file = addonFile(build);
  const folders = [
    isBundled() ? undefined : join(__dirname, "..", "..", "native"),
    packageFolder(`toolwright-${build}`),
    ...programFolders(),
  ];
  return folders.flatMap((it) => (it ? [join(it, file)] : []));
}

/**
 * Explains why a file that exists does not load.
 *
 * @param {string} path
 * @param {unknown} loaderError
 * @returns {Failure}
 */
function whyNot(path, loaderError) {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    return {
      words: `\`${path}\` cannot be read (${codeOf(cause)}); give this user the right to read it`,
      cause,
    };
  }
  if (!statSync(path).isFile()) {
    return { words: `\`${path}\` is not a file; ${REINSTALL}` };
  }
  try {
    process.dlopen({ exports: {} }, path);
    // The file itself loads, so the loader failed for another reason, such as one of napi's variables.
    return { words: `the loader of \`${path}\` says: ${allWords(loaderError)}` };
  } catch (cause) {
    const said = firstLine(messageOf(cause).trim()).slice(0, 500);
    const withoutPath = said.replaceAll(path, "");
    const [, meaning] = MEANINGS.find(([pattern]) => pattern.test(withoutPath)) ?? [];
    const advice = meaning?.(said) ?? REINSTALL;
    return {
      words: `\`${path}\` does not load: ${said}; ${advice}`,
      cause,
    };
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} text */
function firstLine(text) {
  return text.split("\n", 1)[0] ?? "";
}

/**
 * The messages of an error and its causes, each once.
 *
 * @param {unknown} error
 */
function allWords(error) {
  const words = new Set();
  for (let cause = error; cause instanceof Error && words.size < 20; cause = cause.cause) {
    words.add(firstLine(cause.message));
  }
  return [...words].join(" | ");
}

/**
 * Patterns in the system's error messages, and the advice for each.
 *
 * @type {[pattern: RegExp, advice: (said: string) => string][]}
 */
const MEANINGS = [
  [
    /version [`']GLIBC_/,
    (said) =>
      `the build needs glibc ${/GLIBC_([\d.]+)/.exec(said)?.[1]} or newer and this system has ` +
      `${glibcVersion() ?? "an older one"}; use a newer system or image, or build from source`,
  ],
  [
    /ld-musl|libc\.musl|libc\.so: cannot open/,
    () =>
      `the build is for musl, and this system has another C library; ${REINSTALL} on this system`,
  ],
  [
    /ld-linux|libc\.so\.6|__\w+_chk|gnu_get_libc_version/,
    () =>
      `the build is for glibc, and this system has another C library; ${REINSTALL} on this system`,
  ],
  [/napi_|self-regist/, () => "this runtime lacks functions of Node-API 8; update it"],
  [
    /map segment|not permitted|executable stack|code signature/i,
    () =>
      "the system refuses to run code from there: the file system may be mounted with `noexec`, or a " +
      "security policy forbids it; install elsewhere or allow it",
  ],
  [
    // For a file made for another processor, glibc reports that it does not exist.
    /^: cannot open shared object|ELF|mach-o|incompatible architecture|Win32 application|file too short|Exec format|wrong architecture/i,
    () =>
      `the file is damaged, or made for another system or processor; ${REINSTALL} on this system`,
  ],
];

/**
 * Explains why there is no file of this build at all.
 *
 * @param {string} build
 * @returns {Failure}
 */
function nothingThere(build) {
  const name = `toolwright-${build}`;
  const file = addonFile(build);
  if (isBundled()) {
    const places = programFolders().map((it) => `\`${it}\``);
    return {
      words:
        `the bundle has no \`${file}\`, and neither has ${places.join(" or ")}; put the files of the ` +
        `package \`${name}\` there; ` +
        "see https://github.com/toolwright/toolwright/blob/main/docs/bundling.md",
    };
  }
  const installed = packageFolder(name);
  if (installed !== undefined) {
    return {
      words: `the package \`${name}\` has no \`${file}\` in \`${installed}\`; ${REINSTALL}`,
    };
  }
  if (existsSync(join(__dirname, "..", "..", "Cargo.toml"))) {
    return { words: "it is not built yet in this clone; run `npm run build`" };
  }
  const others = BUILDS.filter((it) => packageFolder(`toolwright-${it}`) !== undefined);
  if (others.length > 0) {
    return {
      words:
        `the package \`${name}\` is not installed, but that of ${others.join(", ")} is: node_modules comes from ` +
        `another system; ${REINSTALL} on this one`,
    };
  }
  return {
    words:
      `the package \`${name}\` is not installed. It is an optional dependency: install again without ` +
      "`--omit=optional` or `--no-optional`. If a lock file was written on another system, npm may leave it " +
      "out: remove node_modules and package-lock.json first",
  };
}

module.exports = { loadFailure, versionFailure };
