import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { LOOPBACK, jsonAnswer, useWebServers } from "../support/web-servers.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, LOOPBACK);
const startServer = useWebServers();

/** Words that a page shows unchanged: no white space and no invisible characters. */
const word = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, ""))
  .filter((text) => text !== "");
const line = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(" "));

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The expected text: at most `maxLength` long, without half a character at its end. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text[maxLength - 1] ?? "");
  const end = isHalf ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}\n\n[Content truncated: ${text.length - end} characters omitted]`;
}

/** A server for single pages, each at its own address, so that none comes from a cache. */
async function pages() {
  const bodies: string[] = [];
  const { origin } = await startServer(({ url }) => bodies[Number(url.slice(1))] ?? "");
  return (body: string) => `${origin}/${bodies.push(body) - 1}`;
}

describe("seed properties of web tools", () => {
  // Feature: stage-03-tools-policy, Property 29: Web Fetch Content Retrieval
  test("Property 29: every page is returned as text", async () => {
    const registry = registryHere();
    const pageOf = await pages();
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
        const body = `<script>no()</script>${lines.map((it) => `<p>${escaped(it)}</p>`).join("\n")}`;
        const invocation = registry.createInvocation("web_fetch", { url: pageOf(body) });
        const { llmContent, error } = await invocation.execute();
        expect(error).toBeUndefined();
        expect(llmContent).toBe(lines.join("\n\n"));
      }),
      { numRuns: 60 },
    );
  });

  // Feature: stage-03-tools-policy, Property 30: Web Fetch CSS Selector
  test("Property 30: a selector returns what it matches and nothing else", async () => {
    const registry = registryHere();
    const pageOf = await pages();
    const part = fc.record({
      text: line,
      chosen: fc.boolean(),
      tag: fc.constantFrom("p", "div", "h2"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), async (parts) => {
        const body = parts
          .map(
            ({ text, chosen, tag }) =>
              `<${tag} class="${chosen ? "x y" : "y"}">${escaped(text)}</${tag}>`,
          )
          .join("");
        const input = { url: pageOf(body), selector: ".x" };
        const { llmContent } = await registry.createInvocation("web_fetch", input).execute();
        const chosen = parts.filter((it) => it.chosen).map((it) => it.text);
        const shown = (llmContent as string).split(/\n+/);
        expect(shown).toEqual(
          chosen.length === 0 ? ["[the selector matches nothing on the page]"] : chosen,
        );
      }),
      { numRuns: 60 },
    );
  });

  // Feature: stage-03-tools-policy, Property 31: Web Fetch Truncation
  test("Property 31: content beyond maxLength is cut there, and the answer says how much", async () => {
    const registry = registryHere();
    const pageOf = await pages();
    const length = fc.integer({ min: 1, max: 60 });
    await fc.assert(
      fc.asyncProperty(line, length, async (text, maxLength) => {
        const url = pageOf(`<p>${escaped(text)}</p>`);
        const { llmContent } = await registry
          .createInvocation("web_fetch", { url, maxLength })
          .execute();
        expect(llmContent).toBe(cut(text, maxLength));
      }),
      { numRuns: 60 },
    );
  });

  // Feature: stage-03-tools-policy, Property 32: Web Search Result Count
  test("Property 32: a search returns at most the requested number of results", async () => {
    const found = fc.array(line, { maxLength: 30 });
    let results: string[] = [];
    const { origin } = await startServer(() =>
      jsonAnswer({
        results: results.map((title, at) => ({ title, url: `https://a.b/${at}`, content: title })),
      }),
    );
    const registry = registryHere({ search: { provider: "searxng", url: origin } });
    const count = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(line, found, count, async (query, titles, numResults) => {
        results = titles;
        const input = numResults === undefined ? { query } : { query, numResults };
        const result = await registry.call("web_search", input);
        const shown = (result.structuredContent as { results: { url: string }[] }).results;
        const wanted = Math.min(titles.length, numResults ?? 5);
        expect(shown.map(({ url }) => url)).toEqual(
          Array.from({ length: wanted }, (_, at) => `https://a.b/${at}`),
        );
        expect(result.display).toBe(`Found ${wanted} ${wanted === 1 ? "result" : "results"}`);
      }),
      { numRuns: 60 },
    );
  });
});
