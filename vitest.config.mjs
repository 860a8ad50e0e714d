import { configDefaults, defineConfig } from "vitest/config";

/** Tests that start Node and Bun themselves, or none of them: nothing new is learnt by running them in Bun. */
const BOTH_RUNTIMES = [
  "bundling",
  "cli",
  "cli-call",
  "cli-commands",
  "cli-completion",
  "cli-questions",
  "cli-serve",
  "cli-terminal",
  "load-errors",
  "packages",
  "readme",
  "sandbox-reads",
  "sandbox-work",
  "sandbox-writes",
];

export default defineConfig({
  test: {
    include: ["__test__/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      ...(process.versions.bun ? BOTH_RUNTIMES.map((name) => `__test__/${name}.test.ts`) : []),
    ],
    setupFiles: ["__test__/support/data-directory.ts"],
    // A crash of the addon must end one worker, not the whole run.
    pool: "forks",
    // More than there are cores on a small machine: tests wait for processes and files half of their time.
    maxWorkers: 3,
    // Far longer than any test takes on a loaded machine: it ends only what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The runtime itself must load the package: vitest would transform it, make a second instance
    // for require, and hide how import and require really work.
    server: { deps: { external: [/\/(?:index\.m?js|(?:lib|native|bin)\/.*\.js)$/] } },
    // vitest's own idea of default exports loses zod's `z` on Bun.
    deps: { interopDefault: false },
  },
});
