// Finds Chromium for the tests of the page. `npm test` installs it from Debian if it runs as root.
import { programOnPath, run } from "./command.mjs";

/** The names of Chromium's program on different systems. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of a browser, if the machine has one. */
export function findChromium() {
  return NAMES.map(programOnPath).find((path) => path !== undefined);
}

/** Installs the browser if it is missing. Returns one line for everything that cannot be tested without it. */
export async function obtainChromium() {
  let reason = "install `chromium`";
  try {
    if (findChromium() === undefined && mayInstall()) await install();
  } catch (error) {
    reason = error.message;
  }
  const found = findChromium();
  if (found === undefined) return [`the tests of the page in a browser: ${reason}`];
  console.log(`Chromium: ${found}`);
  return [];
}

function mayInstall() {
  return process.getuid?.() === 0 && programOnPath("apt-get") !== undefined;
}

async function install() {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "-y", "--no-install-recommends", "chromium"];
  try {
    await run("apt-get", args, { env });
  } catch {
    // A fresh image has no package lists.
    await run("apt-get", ["update"], { env });
    await run("apt-get", args, { env });
  }
}
