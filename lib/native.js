"use strict";

/** The addon, or an error that says what was tried and what stood in the way. */
function load() {
  try {
    return require("../native/binding.js");
  } catch (error) {
    const causes = [];
    for (let cause = error; cause instanceof Error && causes.length < 20; cause = cause.cause) {
      const text = `${cause.message}`.split("\n", 1)[0];
      if (!causes.includes(text)) causes.push(text);
    }
    const runtime = process.versions.bun
      ? `Bun ${process.versions.bun}`
      : `Node ${process.version}`;
    throw new Error(
      `toolwright's native addon does not load on ${process.platform}-${process.arch}${libc()} (${runtime}). ` +
        `Tried: ${causes.join(" | ")}. ` +
        `If the platform package is missing, install again without --omit=optional; ` +
        `in a clone, run \`npm run build\`.`,
      { cause: error },
    );
  }
}

function libc() {
  if (process.platform !== "linux") return "";
  const glibc = process.report?.getReport?.()?.header?.glibcVersionRuntime;
  return glibc ? ` with glibc ${glibc}` : " with musl";
}

module.exports = load();
