// Pages that try to exhaust time, memory or stack: the answer is bounded, and nothing else is affected.
import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { LOOPBACK, useWebServers } from "../support/web-servers.js";
import type { ServerAnswer } from "../support/web-servers.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, LOOPBACK);
const startServer = useWebServers();

/** A PDF of about 4 KB whose page unpacks twice, to half a gigabyte. */
function pdfBomb(): Uint8Array {
  const inner = deflateSync(Buffer.alloc(1 << 29, 0x20), { level: 9 });
  const stream = deflateSync(inner, { level: 9 });
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>",
  ].map((body, at) => Buffer.from(`${at + 1} 0 obj${body}endobj\n`));
  return Buffer.concat([
    Buffer.from("%PDF-1.4\n"),
    ...objects,
    Buffer.from(`4 0 obj<</Filter[/FlateDecode/FlateDecode]/Length ${stream.length}>>stream\n`),
    stream,
    Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"),
  ]);
}

const MEBIBYTE = 1 << 20;

const pages: Record<string, { page: () => ServerAnswer; wanted: RegExp }> = {
  "40,000 nested tags": {
    page: () => `${"<div>".repeat(40_000)}deep${"</div>".repeat(40_000)}<p>end`,
    wanted: /^deep\n\nend\n\[.*deeper than 256; deeper ones are shown without their structure/s,
  },
  "200,000 attributes": {
    page: () => `<p ${Array.from({ length: 200_000 }, (_, at) => `a${at}=b`).join(" ")}>end`,
    wanted: /^end$/,
  },
  "tags that do not end": {
    page: () => `<table><tr><td><ul><li><b><i><a href=x><blockquote>${"<p>x".repeat(1000)}<p>end`,
    wanted: /end$/,
  },
  "10 MB of text": {
    page: () => `<p>${"lorem ".repeat(1_700_000)}`,
    wanted: /\n\n\[Content truncated: \d+ characters omitted\]/,
  },
  "10 MB of `<`": {
    page: () => "<".repeat(10 * MEBIBYTE - 1),
    wanted: /\[Content truncated: \d+ characters omitted\]/,
  },
  "a NUL": { page: () => `<p>a\0b${" c".repeat(40)}`, wanted: /^ab c/ },
  "NULs alone": { page: () => `<p>a${"\0".repeat(MEBIBYTE)}b`, wanted: /is not text/ },
  "a wrong charset": {
    page: () => ({
      headers: { "content-type": "text/html; charset=utf-8" },
      body: Buffer.from(`<p>caf\xe9${"\xff".repeat(1000)}`, "latin1"),
    }),
    wanted: /^caf/,
  },
  "an unknown charset": {
    page: () => ({ headers: { "content-type": "text/html; charset=klingon" }, body: "<p>qapla" }),
    wanted: /^qapla$/,
  },
  "a PDF that unpacks to half a gigabyte": {
    page: () => ({ headers: { "content-type": "application/pdf" }, body: pdfBomb() }),
    wanted: /page 1 of 1|PDF/,
  },
};

describe("hostile pages", () => {
  test.each(Object.entries(pages))("%s: a bounded answer", async (_, { page, wanted }) => {
    const answer = page();
    const { origin } = await startServer(() => answer);
    const before = process.memoryUsage().rss;
    const result = await registryHere().call("web_fetch", { url: origin });
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MEBIBYTE);
    const text = texts(result).join("\n");
    expect(text.length).toBeLessThan(110_000);
    expect(text).toMatch(wanted);
  });

  test("a selector on a hostile page returns a bounded answer too", async () => {
    const body = `${"<div>".repeat(40_000)}${"<i>x</i>".repeat(5_000)}`;
    const { origin } = await startServer(() => body);
    const registry = registryHere();
    const input = { url: origin, selector: "div div:nth-last-child(1) i" };
    const deep = texts(await registry.call("web_fetch", input)).join("\n");
    expect(deep).toMatch(/nests elements deeper than 256/);
    expect(deep.length).toBeLessThan(110_000);
    const nested = { url: origin, selector: ":not(".repeat(150) };
    expect((await registry.call("web_fetch", nested)).error?.message).toMatch(
      /nest deeper than 16/,
    );
  });

  test("a body beyond the limit is cut, and the answer says so", async () => {
    const { origin } = await startServer(() => `<p>${"x ".repeat(5_000)}`);
    const registry = registryHere({ web: { allow: ["127.0.0.1"], maxBytes: 2_048 } });
    const result = await registry.call("web_fetch", { url: origin });
    expect(texts(result).at(-1)).toBe(
      "[only the first 2048 bytes were fetched, which is the limit]",
    );
  });
});

describe("64 simultaneous fetches", () => {
  test("do not block the event loop", async () => {
    const rows = Array.from({ length: 4_000 }, (_, at) => `<tr><td>${at}<td><a href=/${at}>x</a>`);
    let ticks = 0;
    // The n-th page is sent after n more turns of the loop. If the loop waited for a fetch, none would be sent.
    let asked = 0;
    const { origin } = await startServer(async () => {
      const wanted = (asked += 1);
      const isEarly = () => ticks < wanted;
      while (isEarly()) await new Promise((resolve) => setImmediate(resolve));
      return `<table>${rows.join("")}</table>`;
    });
    const registry = registryHere();
    const timer = setInterval(() => ticks++, 1);
    const fetches = Array.from({ length: 64 }, (_, at) =>
      registry.call("web_fetch", { url: `${origin}/${at}`, maxLength: 50 }),
    );
    const results = await Promise.all(fetches);
    clearInterval(timer);
    for (const result of results) expect(texts(result)[0]).toMatch(/^0 \| x \[http/);
    expect(ticks).toBeGreaterThanOrEqual(64);
  });
});
