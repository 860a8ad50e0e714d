import { Buffer } from "node:buffer";
import { describe, expect, test, vi } from "vitest";
import { PNG } from "../support/pictures.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { LOOPBACK, useWebServers } from "../support/web-servers.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, LOOPBACK);
const askingRegistry = useAskingRegistries(workspace);
const startServer = useWebServers();

const PAGE = `<!doctype html><title>A title</title><script>no()</script>
<h1>Heading</h1><p>Some <b>bold</b> words, <a href="/next">a link</a>.</p>
<ul class="l"><li>one<li>two</ul><p hidden>secret</p>`;

describe("WebFetch", () => {
  test("shows a page as Markdown with the prompt, if no function answers it", async () => {
    const { origin } = await startServer(() => PAGE);
    const result = await registryHere().call("WebFetch", { url: origin, prompt: "What is it?" });
    expect(texts(result)).toEqual([
      `# A title\n\n# Heading\n\nSome **bold** words, [a link](${origin}/next).\n\n- one\n- two`,
      "[this is the page itself, for the prompt: What is it?]",
    ]);
    expect(result.structuredContent).toMatchObject({
      url: `${origin}/`,
      status: 200,
      title: "A title",
      contentType: "text/html; charset=utf-8",
      omittedCharacters: 0,
      fromCache: false,
    });
  });

  test("lets the host answer the prompt", async () => {
    const { origin } = await startServer(() => PAGE);
    const summarize = vi.fn<() => Promise<string>>(async () => "It is a page.");
    const registry = registryHere({ handlers: { summarize } });
    const result = await registry.call("WebFetch", { url: origin, prompt: "What is it?" });
    expect(texts(result)).toEqual(["It is a page."]);
    expect(summarize).toHaveBeenCalledExactlyOnceWith(
      {
        url: `${origin}/`,
        prompt: "What is it?",
        text: expect.stringContaining("Some **bold** words") as string,
        contentType: "text/html; charset=utf-8",
        title: "A title",
      },
      expect.objectContaining({ signal: expect.any(AbortSignal) as AbortSignal }),
    );
  });

  test("reports the error of the host's function", async () => {
    const { origin } = await startServer(() => PAGE);
    const summarize = () => Promise.reject(new Error("no model today"));
    const registry = registryHere({ handlers: { summarize } });
    const result = await registry.call("WebFetch", { url: origin, prompt: "?" });
    expect(result.error?.type).toBe("ToolFailed");
    expect(result.error?.message).toContain("no model today");
  });

  test("prefers Markdown and accepts other types", async () => {
    const headers = { "content-type": "text/markdown" };
    const server = await startServer(() => ({ headers, body: "# As *it* is\n\n\n<b>x</b>" }));
    const input = { url: `${server.origin}/a`, prompt: "?" };
    const result = await registryHere().call("WebFetch", input);
    expect(texts(result)[0]).toBe("# As *it* is\n\n\n<b>x</b>");
    expect(server.seen[0]?.headers.accept).toMatch(/^text\/markdown, text\/html;q=0\.9/);
  });

  test("continues a long page where the last answer ended", async () => {
    const long = Array.from({ length: 30_000 }, (_, at) => `word${at}`).join(" ");
    const { origin, seen } = await startServer(() => `<p>${long}</p>`);
    const registry = registryHere();
    let offset = 0;
    let joined = "";
    for (;;) {
      const result = await registry.call("WebFetch", { url: origin, prompt: "?", offset });
      const [text = ""] = texts(result);
      const omitted = /\n\n\[Content truncated: (\d+) characters omitted\]$/.exec(text);
      const shown = omitted ? text.slice(0, omitted.index) : text;
      joined += shown;
      offset += shown.length;
      expect(result.structuredContent).toMatchObject({ totalCharacters: long.length });
      if (!omitted) break;
      expect(texts(result)[1]).toContain(`to read on, set \`offset\` to ${offset};`);
      expect(Number(omitted[1])).toBe(long.length - offset);
    }
    expect(joined).toBe(long);
    // The page was fetched once and cached.
    expect(seen.length).toBe(1);
    const past = await registry.call("WebFetch", { url: origin, prompt: "?", offset: 9e9 });
    expect(texts(past)[0]).toContain(`past the end: there are ${long.length} characters`);
  });

  test("names the target of a redirect to another host and does not follow it", async () => {
    const target = await startServer(() => "never");
    const { origin } = await startServer(({ url }) =>
      url === "/same"
        ? { status: 302, headers: { location: "/here" } }
        : url === "/here"
          ? "<p>here"
          : { status: 301, headers: { location: `http://localhost:${target.port}/x` } },
    );
    const registry = registryHere({ web: { allow: ["127.0.0.1", "localhost"] } });
    const same = await registry.call("WebFetch", { url: `${origin}/same`, prompt: "?" });
    expect(texts(same)[0]).toBe("here");
    const other = await registry.call("WebFetch", { url: origin, prompt: "?" });
    expect(texts(other)[0]).toBe(
      `\`${origin}/\` redirects to another host (HTTP 301), which is not followed. To continue, fetch:\nhttp://localhost:${target.port}/x`,
    );
    expect(other.structuredContent).toMatchObject({
      redirectUrl: `http://localhost:${target.port}/x`,
    });
    expect(target.seen).toEqual([]);
  });

  test("reports an error status with the beginning of its page", async () => {
    const body = "<title>Gone</title><style>x</style><p>It was &lt;removed&gt;.</p>";
    const { origin } = await startServer(() => ({ status: 410, body }));
    const result = await registryHere().call("WebFetch", { url: `${origin}/a`, prompt: "?" });
    expect(result.error).toEqual({
      type: "HttpError",
      message: `HTTP 410 Gone from \`${origin}/a\`: Gone It was <removed>.`,
    });
  });

  test.each([
    ["ftp://a.b/", /`ftp:\/\/a\.b\/` cannot be fetched: only http and https/],
    ["docs.rs", /it is not a whole URL; write it with `https:\/\/`/],
    ["https://me:pw@a.b/", /it has a user name or password in it/],
  ])("refuses %s", async (url, message) => {
    const result = await registryHere().call("WebFetch", { url, prompt: "?" });
    expect(result.error?.type).toBe("ValidationError");
    expect(result.error?.message).toMatch(message);
    expect(result.error?.message).not.toContain("me:pw");
  });

  test("connects to no private address unless the host allows it, and only people learn how", async () => {
    const server = await startServer(() => "secret");
    const registry = registryHere({ web: {} });
    const result = await registry.call("WebFetch", { url: server.origin, prompt: "?" });
    expect(result.error?.type).toBe("FetchError");
    expect(JSON.stringify(result.content)).not.toContain("web.allow");
    expect(result.error?.details?.howToAllow).toContain("`web.allow`");
    expect(server.seen).toEqual([]);
  });

  test("is judged by the host of its URL", async () => {
    const server = await startServer(() => "<p>x");
    const rule = "WebFetch(domain:127.0.0.1)";
    const allowed = askingRegistry({ ...LOOPBACK, allowedTools: [rule] });
    for (const [name, extra] of [
      ["WebFetch", { prompt: "?" }],
      ["web_fetch", {}],
    ] as const) {
      const fetched = await allowed.call(name, { url: `${server.origin}/${name}`, ...extra });
      expect(texts(fetched)[0]).toBe("x");
      const other = await allowed.call(name, { url: "http://localhost:1/", ...extra });
      expect(other.error?.type).toBe("PolicyDenied");
    }
    const denied = registryHere({ disallowedTools: [rule] });
    const refused = await denied.call("web_fetch", { url: server.origin });
    expect(refused.error?.type).toBe("PolicyDenied");
    expect(server.seen.length).toBe(2);
  });

  test("ends when its caller aborts", async () => {
    const controller = new AbortController();
    const { origin } = await startServer(() => {
      controller.abort();
      return undefined;
    });
    const input = { url: origin, prompt: "?" };
    const call = registryHere().call("WebFetch", input, { signal: controller.signal });
    await expect(call).rejects.toThrow("the call was cancelled");
  });
});

describe("web_fetch", () => {
  test("shows a page as plain text", async () => {
    const { origin } = await startServer(() => PAGE);
    const invocation = registryHere().createInvocation("web_fetch", { url: origin });
    const text = `A title\n\nHeading\n\nSome bold words, a link [${origin}/next].\n\n- one\n- two`;
    expect(invocation.getDescription()).toBe(`Fetch ${origin}/`);
    expect(invocation.toolLocations()).toEqual([`${origin}/`]);
    expect(await invocation.execute()).toEqual({
      llmContent: text,
      returnDisplay: `Fetched ${text.length} characters`,
    });
  });

  test("shows what a selector matches, or reports that nothing matches", async () => {
    const { origin } = await startServer(() => PAGE);
    const registry = registryHere();
    const fetched = async (selector: string) =>
      texts(await registry.call("web_fetch", { url: origin, selector }));
    expect(await fetched("ul.l li")).toEqual(["- one\n- two"]);
    expect(await fetched("title")).toEqual(["A title"]);
    expect(await fetched("[hidden]")).toEqual(["secret"]);
    expect(await fetched("table")).toEqual(["[the selector matches nothing on the page]"]);
  });

  test("refuses an invalid selector, with the position", async () => {
    const server = await startServer(() => PAGE);
    const input = { url: server.origin, selector: "div > > p" };
    expect((await registryHere().call("web_fetch", input)).error).toEqual({
      type: "ValidationError",
      message:
        "parameter `selector`: `div > > p` is not a CSS selector that can be used: it goes wrong after `div` (character 3)",
    });
    expect(server.seen).toEqual([]);
  });

  const types: [string, string | Uint8Array, string | RegExp][] = [
    ["application/json", '{"a": [1, 2]}', '{"a": [1, 2]}'],
    ["application/rss+xml", "<rss><title>x</title></rss>", "<rss><title>x</title></rss>"],
    ["text/plain", "a  <b>\n c", "a  <b>\n c"],
    ["text/html; charset=iso-8859-1", Buffer.from("<p>caf\xe9 au", "latin1"), "café au"],
    ["text/html", Buffer.from("<meta charset=windows-1251><p>\xcf\xf0", "latin1"), "Пр"],
    ["", "<!doctype html><p>x", "x"],
    ["application/octet-stream", "words", "words"],
  ];
  test.each(types)("shows %s in its own form", async (type, body, wanted) => {
    const headers = { "content-type": type };
    const { origin } = await startServer(() => ({ headers, body }));
    expect(texts(await registryHere().call("web_fetch", { url: origin }))).toEqual([wanted]);
  });

  test("shows an image as an image", async () => {
    const headers = { "content-type": "application/octet-stream" };
    const body = Buffer.from(PNG, "base64");
    const { origin } = await startServer(() => ({ headers, body }));
    const result = await registryHere().call("web_fetch", { url: origin });
    expect(result.content).toEqual([{ type: "image", data: PNG, mimeType: "image/png" }]);
  });

  test("refuses other binary content with its type and size", async () => {
    const headers = { "content-type": "application/zip" };
    const body = Buffer.from("PK\x03\x04\0\0\xff\xfe", "latin1");
    const { origin } = await startServer(() => ({ headers, body }));
    expect((await registryHere().call("web_fetch", { url: origin })).error).toEqual({
      type: "FetchError",
      message: `\`${origin}/\` is not text but \`application/zip\` (8 bytes), which cannot be shown`,
    });
  });

  test("reports that a selector needs HTML", async () => {
    const headers = { "content-type": "application/json" };
    const { origin } = await startServer(() => ({ headers, body: "{}" }));
    const result = await registryHere().call("web_fetch", { url: origin, selector: "p" });
    expect(result.error).toEqual({
      type: "ValidationError",
      message: `\`${origin}/\` is \`application/json\`; a selector can only be used on HTML, so leave it out`,
    });
  });
});
