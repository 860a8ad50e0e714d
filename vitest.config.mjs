import { configDefaults, defineConfig } from "vitest/config";

/** Tests that start Node and Bun themselves, or neither. Running them in Bun would test nothing new. */
const NODE_ONLY = "__test__/**/*.node.test.ts";

export default defineConfig({
  test: {
    include: ["__test__/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.versions.bun ? [NODE_ONLY] : [])],
    setupFiles: ["__test__/support/data-directory.ts"],
    // A crash of the addon must end one worker, not the whole run.
    pool: "forks",
    // More than a small machine has cores, because tests wait for processes and files half of the time.
    maxWorkers: 3,
    // Far longer than any test takes on a loaded machine: only a hanging test reaches it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What a test waits for always happens, but not within vitest's second on a loaded machine.
    expect: { poll: { timeout: 60_000 } },
    // The runtime itself must load the package: vitest would transform it, make a second instance
    // for require, and hide how import and require really work.
    server: { deps: { external: [/\/(?:index\.m?js|(?:lib|native|bin)\/.*\.js)$/] } },
    // vitest's handling of default exports loses zod's `z` on Bun.
    deps: { interopDefault: false },
  },
});
