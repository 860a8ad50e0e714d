// Serves a registry with its own workspace and opens its page in a real browser. In every test, the page must
// not send a request to another server and must not report an error.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { createToolRegistry } from "../index.mjs";
import { findChromium } from "../scripts/chromium.mjs";
import { root } from "../scripts/command.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
];

/** A timeout that only a hanging operation reaches, even on a loaded machine. */
const PATIENCE_MS = 15_000;

export const launch = () => chromium.launch({ executablePath: findChromium(), args: FLAGS });

const endings = new WeakMap();

/** Registers a cleanup. Cleanups run in reverse order: a page is closed before its server. */
export function afterwards(context, ending) {
  const known = endings.get(context);
  if (known) return known.push(ending);
  const own = [ending];
  endings.set(context, own);
  context.after(async () => {
    for (const end of own.reverse()) await end();
  });
}

/** A folder that is removed after the test, with files by name. */
export function workspace(context, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-page-"));
  afterwards(context, () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** A registry that is served until the test ends. */
export async function served(context, { files, serve, ...options } = {}) {
  const folder = workspace(context, files);
  const registry = createToolRegistry({
    projectPath: folder,
    pluginDir: join(folder, "none"),
    ...options,
  });
  afterwards(context, () => registry.close());
  await registry.initialize();
  return { folder, registry, server: await registry.serve(serve) };
}

/** Opens the page and waits until it is connected. `settings` configure the browser context. */
export async function opened(context, browser, { url }, settings = {}) {
  const page = await visited(context, browser, url, settings);
  await connected(page);
  return page;
}

export async function connected(page) {
  await page.locator("#connection", { hasText: /^connected$/ }).waitFor();
}

/** Opens an address. `expectedErrors` matches errors that the browser reports because of the test itself. */
export async function visited(context, browser, url, { expectedErrors, ...settings } = {}) {
  const window = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const strangers = [];
  const errors = [];
  const { origin } = new URL(url);
  page.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith(`${origin}/`) && !to.startsWith("data:")) strangers.push(to);
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => {
    errors.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !expectedErrors?.test(message.text()))
      errors.push(message.text());
  });
  afterwards(context, async () => {
    await window.close();
    assert.deepEqual({ strangers, errors }, { strangers: [], errors: [] });
  });
  if (process.env.PAGE_FROM_SOURCE) await page.route(/\/(page\/[^/?]+)?$/, fromSource);
  await page.goto(url);
  return page;
}

/** For the edit-test loop of the page: serves its current files, with the headers that the addon sends. */
async function fromSource(route) {
  const name = /\/page\/([^/?]+)$/.exec(route.request().url())?.[1] ?? "index.html";
  const body = readFileSync(join(root, "src", "http", "page", name));
  // The page may be closed meanwhile.
  const response = await route.fetch().catch(() => undefined);
  if (response) await route.fulfill({ response, body });
}

/** Goes to a view of the page, such as `tools/Read`. */
export async function goTo(page, view) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${view}`);
}

/** Fills in fields of the tool that is shown. */
export async function fillIn(page, input) {
  for (const [name, value] of Object.entries(input)) {
    const field = page.getByLabel(new RegExp(`^${name}(?![a-z_])`));
    if (typeof value === "boolean") await field.selectOption(String(value));
    else await field.fill(String(value));
  }
}

/** Calls a tool by its form, without waiting for the result. */
export async function call(page, tool, input) {
  await goTo(page, `tools/${tool}`);
  await page.locator(".tool-head", { hasText: tool }).waitFor();
  await fillIn(page, input);
  await page.getByRole("button", { name: "Call", exact: true }).click();
}

/** Waits for the result of the call that is shown, and returns its text. */
export async function result(page, status) {
  const outcome = page.locator(".outcome");
  await outcome.locator(".badge", { hasText: status }).first().waitFor();
  return outcome.innerText();
}
