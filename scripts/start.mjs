// `npm start`: installs and builds what is missing, serves the tools and prints the address to open. Options
// after `--` are passed to `toolwright serve`.
import { createRequire } from "node:module";
import { setup } from "./setup.mjs";

try {
  await setup();
} catch (error) {
  console.error(`setup failed: ${error.message}`);
  process.exit(1);
}
const { main } = createRequire(import.meta.url)("../lib/cli/main.js");
await main(["serve", ...process.argv.slice(2)]);
