// The page, operated as a person would.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { call, fillIn, goTo, launch, opened, result, served } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const APP = 'const port = 3000;\nexport const url = "http://localhost:" + port;\n';
/** One red pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

test("lists the tools by source and by risk, and searches them by words", async (t) => {
  const { server, registry } = await served(t, { toolsets: ["claude", "project"] });
  const page = await opened(t, browser, server);
  assert.equal(await page.locator(".tool-link").count(), registry.getToolCount());
  const headings = page.locator(".groups h2");
  assert.match((await headings.allInnerTexts()).join(), /Claude set.*Project set/s);
  await page.getByLabel("Group by").selectOption("risk");
  assert.match((await headings.allInnerTexts()).join(), /Critical risk.*No risk/s);
  await page.getByLabel("Search tools").fill("regular expression");
  assert.deepEqual(await page.locator(".tool-link .name").allInnerTexts(), ["Grep"]);
  await page.getByLabel("Search tools").fill("");
  await page.getByLabel("Show only").selectOption("critical");
  assert.deepEqual(await page.locator(".tool-link .name").allInnerTexts(), ["Agent"]);
});

test("a tool that the host adds or removes appears and disappears", async (t) => {
  const { server, registry } = await served(t);
  const page = await opened(t, browser, server);
  registry.register({
    name: "greet",
    description: "Greets.",
    inputSchema: { type: "object", properties: { name: { type: "string" } } },
    handler: ({ name }) => `hello ${name}`,
    annotations: { readOnlyHint: true },
  });
  await page.getByRole("link", { name: /^greet/ }).click();
  await fillIn(page, { name: "you" });
  await page.keyboard.press("Control+Enter");
  const asked = page.getByRole("button", { name: "Approve" });
  await asked.click();
  assert.match(await result(page, "succeeded"), /hello you/);
  registry.unregister("greet");
  await page.getByText("There is no tool greet.").waitFor();
});

const greeting = (properties) => ({
  name: "greet",
  description: "Greets.",
  inputSchema: { type: "object", properties },
  handler: () => "hello",
});

test("a changed tool gets a new form, and a tool whose policy changes keeps its form", async (t) => {
  const { server, registry } = await served(t);
  registry.register(greeting({ name: { type: "string" } }));
  const page = await opened(t, browser, server);
  await goTo(page, "tools/greet");
  await fillIn(page, { name: "you" });
  registry.disable("greet");
  await page.locator(".tool-head .badge", { hasText: "switched off" }).waitFor();
  assert.equal(await page.getByLabel(/^name/).inputValue(), "you");
  registry.unregister("greet");
  registry.register(greeting({ city: { type: "string" } }));
  await page.getByLabel(/^city/).waitFor();
  assert.equal(await page.getByLabel(/^name/).count(), 0);
});

test("calls Read and shows the file", async (t) => {
  const { server, folder } = await served(t, { files: { "app.js": APP } });
  const page = await opened(t, browser, server);
  await call(page, "Read", { file_path: join(folder, "app.js") });
  assert.match(await result(page, "succeeded"), /const port = 3000;/);
});

test("calls Grep and groups the lines by file", async (t) => {
  const { server } = await served(t, { files: { "app.js": APP, "b.js": "port\n" } });
  const page = await opened(t, browser, server);
  await goTo(page, "tools/Grep");
  await page.getByText("optional fields").click();
  await page.getByLabel(/^output_mode/).selectOption("content");
  await fillIn(page, { pattern: "port" });
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await result(page, "succeeded");
  const files = await page.locator(".found details").allInnerTexts();
  assert.deepEqual(
    files.map((text) => text.split("\n")[0].replace(/\s+/g, " ")),
    ["app.js 2 lines", "b.js 1 line"],
  );
});

test("shows an image as an image", async (t) => {
  const { server, folder } = await served(t, {
    files: { "red.png": Buffer.from(PIXEL, "base64") },
  });
  const page = await opened(t, browser, server);
  await call(page, "Read", { file_path: join(folder, "red.png") });
  const image = page.locator(".picture img");
  await image.waitFor();
  assert.equal(await image.evaluate((it) => it.decode().then(() => it.naturalWidth)), 1);
});

test("form and JSON show the same input, and a mistake in the JSON is reported", async (t) => {
  const { server } = await served(t);
  const page = await opened(t, browser, server);
  await goTo(page, "tools/Bash");
  await fillIn(page, { command: "ls", timeout: "500", run_in_background: true });
  await page.getByRole("radio", { name: "JSON" }).check();
  const raw = page.getByLabel("The input as JSON");
  assert.deepEqual(JSON.parse(await raw.inputValue()), {
    command: "ls",
    timeout: 500,
    run_in_background: true,
  });
  await raw.fill('{ "command": "pwd", "description": "where" }');
  await page.getByRole("radio", { name: "Form" }).check();
  assert.equal(await page.getByLabel(/^command/).inputValue(), "pwd");
  assert.equal(await page.getByLabel(/^description/).inputValue(), "where");
  assert.equal(await page.getByLabel(/^timeout/).inputValue(), "");
  await page.getByRole("radio", { name: "JSON" }).check();
  await raw.fill('{ "command": ');
  await page
    .getByText(/This is not JSON/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Call", exact: true }).click();
  assert.equal(await page.locator(".outcome").innerText(), "");
});

test("lists of objects have fields for every entry", async (t) => {
  const { server, registry } = await served(t, { permissionMode: "bypassPermissions" });
  const page = await opened(t, browser, server);
  await goTo(page, "tools/TodoWrite");
  await page.getByRole("button", { name: "Add an entry" }).click();
  await fillIn(page, { content: "Run the tests", activeForm: "Running the tests" });
  await page.getByLabel(/^status/).selectOption("pending");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await result(page, "succeeded");
  assert.deepEqual(await registry.todos(), [
    { content: "Run the tests", status: "pending", activeForm: "Running the tests" },
  ]);
});

test("entries of a list are numbered by position, also after one is removed", async (t) => {
  const { server } = await served(t);
  const page = await opened(t, browser, server);
  await goTo(page, "tools/TodoWrite");
  const names = page.locator(".items > li > .field > legend .name");
  for (let i = 0; i < 2; i++) await page.getByRole("button", { name: "Add an entry" }).click();
  await page.getByRole("button", { name: "Remove entry 1" }).press("Enter");
  const focused = await page.evaluate(() => document.activeElement.ariaLabel);
  assert.equal(focused, "Remove entry 1");
  await page.getByRole("button", { name: "Add an entry" }).click();
  assert.deepEqual(await names.allInnerTexts(), ["entry 1", "entry 2"]);
});

test("approves an edit with its diff in view", async (t) => {
  const { server, folder } = await served(t, { files: { "app.js": APP } });
  const path = join(folder, "app.js");
  const page = await opened(t, browser, server);
  await call(page, "Read", { file_path: path });
  await result(page, "succeeded");
  await call(page, "Edit", { file_path: path, old_string: "3000", new_string: "8080" });
  const card = page.locator(".confirmation");
  assert.match(await card.locator(".row.removed").innerText(), /const port = 3000;/);
  assert.match(await card.locator(".row.added").innerText(), /const port = 8080;/);
  assert.equal(readFileSync(path, "utf8"), APP);
  await card.getByRole("button", { name: "Approve" }).click();
  assert.match(await result(page, "succeeded"), /8080/);
  assert.equal(readFileSync(path, "utf8"), APP.replace("3000", "8080"));
});

test("denies a call of another client with a reason, from any view", async (t) => {
  const { server, registry } = await served(t);
  const page = await opened(t, browser, server);
  await goTo(page, "calls");
  const answer = registry.call("Bash", { command: "rm -rf build" });
  const strip = page.getByRole("region", { name: "Waiting for you" });
  assert.match(await strip.innerText(), /1 call waits for your answer/);
  assert.match(await page.locator("#announcer").innerText(), /rm -rf build/);
  assert.equal(await page.title(), "(1) toolwright");
  await strip.getByRole("link", { name: "Review" }).click();
  await page.getByLabel("Reason for a no").fill("not before the release");
  await page.getByRole("button", { name: "Deny" }).click();
  const { isError, error } = await answer;
  assert.equal(isError, true);
  assert.match(error.message, /not before the release/);
  await page.locator(".confirmation.settled", { hasText: "Denied" }).waitFor();
  assert.equal(await page.title(), "toolwright");
});

test("edits the input of a call, and always allows the same call", async (t) => {
  const { server, registry } = await served(t);
  const page = await opened(t, browser, server);
  await goTo(page, "confirmations");
  const first = registry.call("Bash", { command: "echo one" });
  await page.getByText("See or edit the input").click();
  await page.getByLabel("The input of the call as JSON").fill("[1]");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("The edited input has to be a JSON object.").waitFor();
  await page.getByLabel("The input of the call as JSON").fill('{ "command": "echo two" }');
  await page.getByLabel(/Always allow in this session/).check();
  await page.getByRole("button", { name: "Approve" }).click();
  const [block] = (await first).content;
  assert.match(block.text, /two/);
  const [again] = (await registry.call("Bash", { command: "echo two" })).content;
  assert.match(again.text, /two/);
});

test("runs a command in the background, shows its output and stops it", async (t) => {
  const { server, registry } = await served(t, { permissionMode: "bypassPermissions" });
  const page = await opened(t, browser, server);
  const command = "echo begun; sleep 600";
  await call(page, "Bash", { command, run_in_background: true });
  await result(page, "succeeded");
  await goTo(page, "tasks");
  const card = page.locator(".task");
  await card.locator(".live", { hasText: "begun" }).waitFor();
  assert.match(await card.innerText(), /running/);
  await card.getByRole("button", { name: /^Stop/ }).click();
  await card.locator(".badge", { hasText: "stopped" }).waitFor();
  assert.equal(registry.tasks()[0].state, "stopped");
  assert.equal(await card.getByRole("button", { name: /^Stop/ }).isVisible(), false);
});

test("shows output while a command runs, and cancels it", async (t) => {
  const { server, registry } = await served(t, { permissionMode: "bypassPermissions" });
  const page = await opened(t, browser, server);
  await call(page, "Bash", { command: "echo begun; sleep 600" });
  await page.locator(".outcome .live", { hasText: "begun" }).waitFor();
  // Opening another view does not end the command.
  await goTo(page, "calls");
  await page.locator(".call .badge", { hasText: "running" }).waitFor();
  await goTo(page, "tools/Bash");
  await page.getByRole("button", { name: "Cancel" }).click();
  await result(page, "cancelled");
  await goTo(page, "calls");
  await page.locator(".call .badge", { hasText: "cancelled" }).waitFor();
  assert.deepEqual(
    registry.tasks().filter(({ state }) => state === "running"),
    [],
  );
});

test("the timeline has every call with its decision and duration", async (t) => {
  const { server, registry, folder } = await served(t, { policy: { deny: ["WebFetch"] } });
  const page = await opened(t, browser, server);
  await registry.call("Glob", { pattern: "*", path: folder });
  await registry.call("WebFetch", { url: "http://example.com", prompt: "x" });
  await goTo(page, "calls");
  const rows = page.locator(".call");
  await rows.nth(1).waitFor();
  const [second, first] = await rows.allInnerTexts();
  assert.match(first, /Glob[\s\S]*allowed[\s\S]*succeeded[\s\S]*\d m?s/);
  assert.match(second, /WebFetch[\s\S]*denied[\s\S]*refused/);
  await rows.first().locator("summary").click();
  assert.match(await rows.first().innerText(), /Decision[\s\S]*WebFetch/);
  await page.getByLabel("Which calls").selectOption("trouble");
  assert.equal(await rows.count(), 1);
});

test("explains why policy asks, with a rule to paste that then allows the call", async (t) => {
  const { server, registry } = await served(t);
  const page = await opened(t, browser, server, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await goTo(page, "tools/Bash");
  const command = "cargo build && git push";
  await fillIn(page, { command });
  await page.getByRole("button", { name: /^Why/ }).click();
  const verdict = page.locator(".verdict");
  assert.match(await verdict.innerText(), /asks[\s\S]*no rule allows/);
  assert.equal(await verdict.locator(".parts li").count(), 2);
  await verdict.getByRole("button", { name: "Copy" }).click();
  await verdict.getByRole("button", { name: "Copied" }).waitFor();
  const { allow } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  registry.setPolicy({ allow });
  assert.equal(registry.explain("Bash", { command }).action, "allow");
});
