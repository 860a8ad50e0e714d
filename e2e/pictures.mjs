// Makes the pictures of the page that README shows: `node e2e/pictures.mjs`, after `npm run build`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "../index.mjs";
import { root } from "../scripts/command.mjs";
import { call, goTo, launch, opened, result } from "./browser.mjs";

const SERVER = `import { createServer } from "node:http";

const port = 3000;

export function start() {
  const server = createServer((request, response) => {
    response.end("hello");
  });
  server.listen(port);
  return server;
}
`;
const CHANGE = {
  old_string: '    response.end("hello");',
  new_string:
    '    response.setHeader("content-type", "text/plain; charset=utf-8");\n    response.end("hello, world");',
};

const images = join(root, "docs", "images");
const folder = mkdtempSync(join(tmpdir(), "shop-"));
const endings = [() => rmSync(folder, { recursive: true, force: true })];
/** Stands in for the test context that the helpers expect. */
const context = { after: (ending) => endings.push(ending) };
try {
  mkdirSync(images, { recursive: true });
  mkdirSync(join(folder, "src"));
  const path = join(folder, "src", "server.js");
  writeFileSync(path, SERVER);
  const registry = createToolRegistry({ projectPath: folder, toolsets: ["claude", "project"] });
  endings.push(() => registry.close());
  await registry.initialize();
  const server = await registry.serve();
  const browser = await launch();
  endings.push(() => browser.close());

  const wide = await opened(context, browser, server, { viewport: { width: 1420, height: 820 } });
  await call(wide, "Read", { file_path: path });
  await result(wide, "succeeded");
  await call(wide, "Edit", { file_path: path, ...CHANGE });
  await wide.locator(".confirmation button.primary:not([aria-disabled])").waitFor();
  await wide.mouse.move(0, 0);
  await wide.screenshot({ path: join(images, "page-wide-light.png") });
  await wide.getByRole("button", { name: "Approve" }).click();
  await result(wide, "succeeded");

  const phone = await opened(context, browser, server, {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 1.5,
    isMobile: true,
    hasTouch: true,
    colorScheme: "dark",
  });
  const asked = registry.call("Edit", {
    file_path: path,
    old_string: "const port = 3000;",
    new_string: "const port = Number(process.env.PORT ?? 3000);",
  });
  await goTo(phone, "confirmations");
  await phone.locator(".confirmation button.primary:not([aria-disabled])").waitFor();
  await phone.screenshot({ path: join(images, "page-phone-dark.png") });
  await phone.getByRole("button", { name: "Approve" }).tap();
  await asked;
} finally {
  for (const end of endings.reverse()) await end();
}
