// Access by token, hostile texts, and accessibility: keyboard, phone, dark colours.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createToolRegistry } from "../index.mjs";
import {
  afterwards,
  call,
  connected,
  goTo,
  launch,
  opened,
  result,
  served,
  visited,
  workspace,
} from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const VIEWS = ["tools", "tools/Grep", "confirmations", "tasks", "calls"];
/** Matches what Chromium reports about a failed answer or connection. */
const FAILED_REQUEST = /^Failed to load resource/;

test("the token is removed from the address at once and stays in the tab", async (t) => {
  const { server } = await served(t);
  const page = await opened(t, browser, server);
  assert.equal(page.url(), `${server.origin}/#/tools`);
  await page.reload();
  await connected(page);
  await page.goBack();
  assert.doesNotMatch(page.url(), /token/);
});

test("without a token, or with a wrong one, the page says what to do", async (t) => {
  const { server } = await served(t);
  const settings = { expectedErrors: FAILED_REQUEST };
  const page = await visited(t, browser, `${server.origin}/`, settings);
  await page.getByRole("heading", { name: "A token is needed" }).waitFor();
  assert.match(await page.locator("main").innerText(), /Open the address that the server printed/);
  await page.goto(`${server.origin}/#token=wrong`);
  await page.getByRole("heading", { name: "The token is not right" }).waitFor();
  assert.equal(await page.locator("#connection").innerText(), "not let in");
  await page.getByLabel(/paste the token or the whole address/).fill(server.url);
  await page.getByRole("button", { name: "Enter" }).click();
  await connected(page);
  await page.locator(".tool-link").first().waitFor();
});

test("a lost connection is reported, and the page reconnects", async (t) => {
  const { server, registry, folder } = await served(t, { serve: { token: "t".repeat(32) } });
  const page = await opened(t, browser, server, { expectedErrors: FAILED_REQUEST });
  await server.close();
  await page.getByText("the page tries to connect again").waitFor();
  assert.equal(await page.locator("#connection").innerText(), "connection lost");
  await registry.call("Glob", { pattern: "*", path: folder });
  await registry.serve({ port: server.port, token: server.token });
  await page.getByRole("button", { name: "Try now" }).click({ noWaitAfter: true });
  await connected(page);
  await goTo(page, "calls");
  await registry.call("Glob", { pattern: "*.js", path: folder });
  await page.locator(".call", { hasText: "*.js" }).waitFor();
});

test("an address of an unknown tool is reported, even if it is badly encoded", async (t) => {
  const { server } = await served(t);
  const page = await opened(t, browser, server);
  for (const name of ["Raed", "%"]) {
    await goTo(page, `tools/${name}`);
    await page.reload();
    await page.getByText(`There is no tool ${name}.`).waitFor();
    await connected(page);
  }
});

test("after a restart of the server, a new task is not mistaken for an old one", async (t) => {
  const serve = { token: "t".repeat(32) };
  const mode = { permissionMode: "bypassPermissions" };
  const first = await served(t, { serve, ...mode });
  const page = await opened(t, browser, first.server, { expectedErrors: FAILED_REQUEST });
  const run_in_background = true;
  await first.registry.call("Bash", { command: "echo one; sleep 600", run_in_background });
  await page.locator("#views", { hasText: /Tasks 1/ }).waitFor();
  // The duration is counted from the task's start, not from when the view is opened.
  await page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 3_600_000;
  });
  await goTo(page, "tasks");
  const card = page.locator(".task", { hasText: "echo one" });
  await card.locator("header", { hasText: /1 h 0 min/ }).waitFor();
  await first.registry.close();
  const second = await served(t, { serve: { ...serve, port: first.server.port }, ...mode });
  await second.registry.call("Bash", { command: "echo two; sleep 600", run_in_background });
  await page.locator(".live", { hasText: "two" }).waitFor();
  assert.equal(await page.locator(".task").count(), 1);
  assert.doesNotMatch(await page.locator(".task").innerText(), /one/);
});

test("hostile text from files, commands and tools is shown as text", async (t) => {
  const bad = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
  const { server, registry, folder } = await served(t, {
    files: { "<img src=x onerror=alert(1)>.txt": `needle ${bad}\n` },
    permissionMode: "bypassPermissions",
  });
  registry.register({
    name: "hostile",
    description: `${bad} \`${bad}\`\n- ${bad}`,
    inputSchema: {
      type: "object",
      properties: { [bad]: { type: "string", description: bad, default: bad } },
    },
    handler: () => ({ content: [{ type: "text", text: bad }], structuredContent: { [bad]: bad } }),
  });
  const page = await opened(t, browser, server);
  await goTo(page, "tools/Grep");
  await page.getByText("optional fields").click();
  await page.getByLabel(/^output_mode/).selectOption("content");
  await page.getByLabel(/^pattern/).fill("needle");
  await page.keyboard.press("Control+Enter");
  const found = await result(page, "succeeded");
  assert.ok(found.includes("<img src=x onerror=alert(1)>.txt") && found.includes(bad), found);
  await call(page, "Bash", { command: `printf '%s' '${bad}'` });
  assert.ok((await result(page, "succeeded")).includes(bad));
  await goTo(page, "tools/hostile");
  await page.locator(".description summary").click();
  await page.getByRole("button", { name: "Call", exact: true }).click();
  assert.ok((await result(page, "succeeded")).includes(bad));
  registry.setPermissionMode("default");
  const abort = new AbortController();
  const asked = registry.call(
    "Write",
    { file_path: join(folder, `${bad.replaceAll("/", "")}.js`), content: bad },
    { signal: abort.signal },
  );
  await goTo(page, "confirmations");
  await page.locator(".confirmation .diff").waitFor();
  assert.ok((await page.locator(".confirmation").innerText()).includes(bad));
  abort.abort();
  await assert.rejects(asked);
  await page.locator(".confirmation.settled").waitFor();
  for (const view of VIEWS) {
    await goTo(page, view);
    assert.equal(await page.locator("main script, main img").count(), 0);
  }
});

test("everything is reached by keyboard alone", async (t) => {
  const { server, folder } = await served(t, { files: { "a.txt": "one\n" } });
  const page = await opened(t, browser, server);
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the content");
  await page.keyboard.press("/");
  await page.keyboard.type("bash");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".tool-head h2:focus").waitFor();
  await tabTo(page, /^command/);
  await page.keyboard.type(`cat ${join(folder, "a.txt")}; rm nothing`);
  await page.keyboard.press("Control+Enter");
  await page.locator(".confirmation").waitFor();
  await tabTo(page, /^Reason for a no/);
  await page.keyboard.type("no");
  await tabTo(page, /^Deny$/);
  await page.keyboard.press("Enter");
  await result(page, "refused");
  await page.keyboard.press("Escape");
  await page.locator("main:focus").waitFor();
  assert.match(page.url(), /#\/tools$/);
  await page.keyboard.press("/");
  assert.equal(await focused(page), "Search tools");
});

test("every control has a name and shows its focus", async (t) => {
  const { server, registry } = await served(t);
  const page = await opened(t, browser, server);
  const abort = new AbortController();
  const asked = registry.call("Bash", { command: "ls" }, { signal: abort.signal });
  await page.locator("#waiting").waitFor({ state: "visible" });
  for (const view of VIEWS) {
    await goTo(page, view);
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("a, button, input, select, textarea, [role=region]")]
        .filter((it) => {
          const labels = [...(it.labels ?? [])].map((label) => label.textContent);
          return (it.ariaLabel || labels.join("") || it.textContent).trim() === "";
        })
        .map((it) => it.outerHTML),
    );
    assert.deepEqual(nameless, [], view);
  }
  abort.abort();
  await assert.rejects(asked);
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
});

test("texts have enough contrast, light and dark, and dark is dark", async (t) => {
  const { server } = await served(t);
  for (const colorScheme of ["light", "dark"]) {
    const page = await opened(t, browser, server, { colorScheme });
    const ratios = await page.evaluate(contrasts);
    for (const [pair, ratio] of Object.entries(ratios)) {
      assert.ok(ratio >= 4.5, `${pair} has a contrast of ${ratio.toFixed(2)} in ${colorScheme}`);
    }
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [red] = /\d+/.exec(ground);
    assert.equal(Number(red) < 100, colorScheme === "dark", ground);
  }
});

test("fits into a window of 360 px, as on a phone, and into one of 2,000 px", async (t) => {
  const { server, registry } = await served(t, { files: { "a.txt": "one\n" } });
  const abort = new AbortController();
  for (const width of [360, 768, 2000]) {
    const page = await opened(t, browser, server, { viewport: { width, height: 700 } });
    const asked = registry.call(
      "Bash",
      { command: `echo ${"x".repeat(300)}` },
      { signal: abort.signal },
    );
    asked.catch(() => {});
    for (const view of VIEWS) {
      await goTo(page, view);
      const [content, window] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      assert.ok(content <= window, `${view} is ${content} px wide in a window of ${window} px`);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("button, a.button, h1, h2")]
          .filter((it) => it.checkVisibility() && it.getBoundingClientRect().right > innerWidth + 1)
          .map((it) => it.textContent),
      );
      assert.deepEqual(cut, [], view);
    }
  }
  abort.abort();
});

test("on a phone, a long input is edited without scrolling sideways, and a result is in view", async (t) => {
  const { server, folder } = await served(t, { files: { "a.txt": "one\n" } });
  const page = await opened(t, browser, server, { viewport: { width: 360, height: 740 } });
  await call(page, "Bash", { command: "echo" });
  await page.getByText("See or edit the input").click();
  const input = page.getByLabel("The input of the call as JSON");
  await input.fill(JSON.stringify({ command: `echo ${"x".repeat(300)}` }));
  const { width } = await input.boundingBox();
  assert.ok(width <= 360, `${width} px`);
  await page.getByRole("button", { name: "Deny" }).click();
  await result(page, "refused");
  await call(page, "Read", { file_path: join(folder, "a.txt") });
  await result(page, "succeeded");
  const box = await page.locator(".result").boundingBox();
  assert.ok(box.y + 40 < 740, `the result begins at ${box.y} px`);
});

test("on a phone, the list and the tool take turns", async (t) => {
  const { server } = await served(t);
  const page = await opened(t, browser, server, {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    colorScheme: "dark",
  });
  await page.getByRole("link", { name: /^Read / }).tap();
  await page.locator(".tool-head").waitFor();
  assert.equal(await page.locator(".tool-list").isVisible(), false);
  await page.getByRole("link", { name: "All tools" }).tap();
  await page.locator(".tool-list").waitFor({ state: "visible" });
});

test("works below a path of another server that does its own authentication", async (t) => {
  const { createServer } = await import("node:http");
  const { Readable } = await import("node:stream");
  const registry = createToolRegistry({ projectPath: workspace(t) });
  afterwards(t, () => registry.close());
  await registry.initialize();
  const host = createServer(async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const url = `http://${request.headers.host}${request.url}`;
    const { method, headers } = request;
    const body = method === "GET" ? undefined : Readable.toWeb(request);
    const asked = new Request(url, { method, headers, body, duplex: "half", signal: gone.signal });
    const answer = await registry.fetch(asked, { basePath: "/agent" });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body)
        .on("error", () => {})
        .pipe(response);
  });
  await new Promise((resolve) => {
    host.listen(0, "127.0.0.1", resolve);
  });
  afterwards(t, () => {
    host.closeAllConnections();
    host.close();
  });
  const page = await opened(t, browser, { url: `http://127.0.0.1:${host.address().port}/agent/` });
  await call(page, "Glob", { pattern: "*" });
  await result(page, "succeeded");
});

const focused = (page) =>
  page.evaluate(() => {
    const it = document.activeElement;
    return (
      it.ariaLabel ||
      [...(it.labels ?? [])].map((label) => label.textContent).join("") ||
      it.textContent
    ).trim();
  });

async function tabTo(page, name) {
  for (let presses = 0; presses < 80; presses += 1) {
    if (name.test(await focused(page))) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no Tab leads to ${name}`);
}

/** The contrast of every text with its background, from the browser's computed colours. */
function contrasts() {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const probe = document.body.appendChild(document.createElement("span"));
  const light = (name) => {
    probe.style.color = `var(--${name})`;
    paint.fillStyle = getComputedStyle(probe).color;
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...paint.getImageData(0, 0, 1, 1).data].map((it) => {
      const part = it / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratios = {};
  const compare = (text, behind) => {
    const [low, high] = [light(text), light(behind)].sort((a, b) => a - b);
    ratios[`${text} on ${behind}`] = (high + 0.05) / (low + 0.05);
  };
  for (const behind of ["ground", "surface", "sunken"]) {
    for (const text of ["text", "dim", "accent", "good", "warn", "bad"]) compare(text, behind);
  }
  for (const behind of ["added", "removed"]) compare("text", behind);
  compare("on-accent", "accent");
  probe.remove();
  return ratios;
}
