import { describe, expect, test, vi } from "vitest";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { jsonAnswer, useWebServers } from "../support/web-servers.js";
import type { SeenRequest, ServerAnswer } from "../support/web-servers.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const startServer = useWebServers();

const KEY = "secret-key-4711";

const FOUND = [
  { url: "https://docs.rs/napi", title: "<b>napi</b> &amp; more", text: "Node-API\n in Rust" },
  { url: "https://evil.org/", title: "Evil", text: "x" },
  { url: "https://api.docs.rs/two", title: "Two", text: "" },
];

/** The services, each with its answer on the wire. */
const services = {
  searxng: {
    path: "/search",
    asked: { q: "rust napi", format: "json" },
    answer: {
      query: "q",
      results: FOUND.map(({ url, title, text }) => ({ url, title, content: text })),
    },
  },
  brave: {
    path: "/res/v1/web/search",
    asked: { q: "rust napi", count: "5", result_filter: "web", text_decorations: "false" },
    answer: {
      type: "search",
      web: { results: FOUND.map(({ url, title, text }) => ({ url, title, description: text })) },
    },
  },
  tavily: {
    path: "/search",
    asked: {
      query: "rust napi",
      max_results: 5,
      search_depth: "basic",
      include_domains: [],
      exclude_domains: [],
    },
    answer: {
      query: "q",
      results: FOUND.map(({ url, title, text }) => ({ url, title, content: text, score: 1 })),
    },
  },
} as const;

type Provider = keyof typeof services;
const PROVIDERS = Object.keys(services) as Provider[];

/** The query of a request: in its body, or else in its address. */
function asked(request: SeenRequest | undefined): unknown {
  if (request?.method === "POST") return JSON.parse(request.body);
  return Object.fromEntries(new URLSearchParams(request?.url.split("?")[1]));
}

function withService(provider: Provider, url: string) {
  return registryHere({ search: { provider, url, apiKey: KEY } });
}

describe("web search", () => {
  test.each(PROVIDERS)("queries %s and shows the results", async (provider) => {
    const { path, answer } = services[provider];
    const server = await startServer(() => jsonAnswer(answer));
    const registry = withService(provider, server.origin);
    const invocation = registry.createInvocation("web_search", { query: "rust napi" });
    expect(invocation.getDescription()).toBe('Search for "rust napi"');
    expect(invocation.toolLocations()).toEqual([]);
    expect(await invocation.execute()).toEqual({
      llmContent:
        "1. napi & more\n   https://docs.rs/napi\n   Node-API in Rust\n\n2. Evil\n   https://evil.org/\n   x\n\n3. Two\n   https://api.docs.rs/two",
      returnDisplay: "Found 3 results",
    });
    const [request] = server.seen;
    expect(request?.url.split("?")[0]).toBe(path);
    expect(JSON.stringify(request?.headers)).toContain(KEY);
    expect(request?.url).not.toContain(KEY);
    expect(asked(request)).toEqual(services[provider].asked);
  });

  test.each(PROVIDERS)("filters the results of %s by domain", async (provider) => {
    const server = await startServer(() => jsonAnswer(services[provider].answer));
    const registry = withService(provider, `${server.origin}/`);
    const urls = async (limits: Record<string, string[]>) => {
      const result = await registry.call("WebSearch", { query: "rust", ...limits });
      const { results } = result.structuredContent as { results: { url: string }[] };
      return results.map(({ url }) => url);
    };
    expect(await urls({ allowed_domains: ["Docs.rs"] })).toEqual([
      "https://docs.rs/napi",
      "https://api.docs.rs/two",
    ]);
    expect(await urls({ blocked_domains: ["docs.rs"] })).toEqual(["https://evil.org/"]);
    expect(await urls({ allowed_domains: ["rs.org"] })).toEqual([]);
    expect(await urls({ allowed_domains: [], blocked_domains: [] })).toHaveLength(3);
  });

  test("uses the host's own function before any service", async () => {
    const search = vi.fn<() => Promise<object[]>>(async () => [
      { url: "https://a.b/1", title: "One", snippet: "first" },
      { url: "https://c.d/2" },
    ]);
    const registry = registryHere({
      handlers: { search },
      search: { provider: "brave", apiKey: KEY },
    });
    const result = await registry.call("WebSearch", { query: "words", blocked_domains: ["x.y"] });
    expect(texts(result)).toEqual([
      "1. One\n   https://a.b/1\n   first\n\n2. c.d\n   https://c.d/2",
    ]);
    expect(search).toHaveBeenCalledExactlyOnceWith(
      { query: "words", numResults: 10, allowedDomains: [], blockedDomains: ["x.y"] },
      expect.objectContaining({ signal: expect.any(AbortSignal) as AbortSignal }),
    );
  });

  test("reports an error or an invalid answer of the host's function", async () => {
    const answers = [
      () => Promise.reject(new Error("no luck")),
      () => "text",
      () => [{ title: "x" }],
    ];
    for (const search of answers) {
      const result = await registryHere({ handlers: { search } }).call("web_search", {
        query: "x",
      });
      expect(result.error?.type).toBe("SearchError");
      expect(result.error?.message).toMatch(
        /no luck|`handlers\.search` gave an answer of another form/,
      );
    }
  });

  test("says how to set up a service if there is none", async () => {
    const result = await registryHere({}).call("web_search", { query: "x" });
    expect(result.error?.type).toBe("SearchError");
    expect(result.error?.message).toBe(
      "no search provider is set up; set `SEARXNG_URL`, `BRAVE_API_KEY` or `TAVILY_API_KEY`, or give the registry the option `search` or `handlers.search`",
    );
  });

  test("takes the service from the environment", async () => {
    const server = await startServer(() => jsonAnswer(services.searxng.answer));
    vi.stubEnv("SEARXNG_URL", server.origin);
    try {
      const result = await registryHere().call("web_search", { query: "x", numResults: 1 });
      expect(texts(result)).toEqual([
        "1. napi & more\n   https://docs.rs/napi\n   Node-API in Rust",
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("reports that nothing was found", async () => {
    const server = await startServer(() => jsonAnswer({ results: [] }));
    const result = await withService("searxng", server.origin).call("web_search", { query: "qqq" });
    expect(texts(result)).toEqual(["No results found for `qqq`; try other words"]);
    expect(result.isError).toBeUndefined();
  });

  test("refuses allowed and blocked domains together, and invalid domains", async () => {
    const registry = registryHere();
    const refused = async (limits: Record<string, string[]>) =>
      (await registry.call("WebSearch", { query: "xx", ...limits })).error;
    expect(await refused({ allowed_domains: ["a.b"], blocked_domains: ["c.d"] })).toEqual({
      type: "ValidationError",
      message:
        "parameter `blocked_domains`: cannot be used together with `allowed_domains`; leave one out",
    });
    expect(await refused({ allowed_domains: ["a b"] })).toEqual({
      type: "ValidationError",
      message: "parameter `allowed_domains`: `a b` is not a domain; write one such as `docs.rs`",
    });
  });

  const trouble: [string, Provider, ServerAnswer, RegExp][] = [
    [
      "too many requests",
      "brave",
      { status: 429, headers: { "retry-after": "7" }, body: KEY },
      /^Brave Search allows no more searches for now \(HTTP 429\); try again in 7 s$/,
    ],
    [
      "a used-up plan",
      "tavily",
      jsonAnswer({ detail: KEY }, 432),
      /^Tavily allows no more searches for now/,
    ],
    [
      "a wrong key",
      "tavily",
      jsonAnswer({ detail: KEY }, 401),
      /^Tavily refused the search with HTTP 401; its key is not valid$/,
    ],
    [
      "JSON switched off",
      "searxng",
      { status: 403, body: KEY },
      /HTTP 403; its settings have to list `json` under `search\.formats`$/,
    ],
    [
      "a page",
      "searxng",
      `<p>${KEY}`,
      /^SearXNG gave an answer without readable results: it is `text\/html`, not JSON$/,
    ],
    [
      "half an answer",
      "brave",
      { body: '{"type": "search", "web": {"resu' },
      /without readable results: it is not JSON \(line 1, column \d+\)$/,
    ],
    [
      "another form",
      "tavily",
      jsonAnswer({ results: [{ link: KEY }] }),
      /without readable results: it has another form/,
    ],
    [
      "an error in its own format",
      "searxng",
      { status: 500, body: KEY },
      /^SearXNG refused the search with HTTP 500$/,
    ],
    [
      "a redirect to another host",
      "tavily",
      { status: 307, headers: { location: `http://localhost:9/?${KEY}` } },
      /Tavily could not be asked/,
    ],
  ];
  test.each(trouble)("reports %s of %s without its key", async (_, provider, answer, message) => {
    const server = await startServer(() => answer);
    const result = await withService(provider, server.origin).call("web_search", { query: "x" });
    expect(result.error?.type).toBe("SearchError");
    expect(result.error?.message).toMatch(message);
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  test("reports a service that is down or too slow", async () => {
    const server = await startServer(() => undefined);
    const slow = registryHere({
      search: { provider: "brave", url: server.origin, apiKey: KEY },
      web: { timeoutMs: 200 },
    });
    const late = await slow.call("web_search", { query: "x" });
    expect(late.error?.message).toMatch(/^Brave Search could not be asked: .*took too long/);
    const gone = withService("searxng", "http://127.0.0.1:1");
    const nobody = await gone.call("web_search", { query: "x" });
    expect(nobody.error?.type).toBe("SearchError");
    expect(nobody.error?.message).toMatch(/^SearXNG could not be asked: /);
  });

  test("allows the service's private address only for searches", async () => {
    const server = await startServer(() => jsonAnswer(services.searxng.answer));
    const registry = withService("searxng", server.origin);
    await registry.call("web_search", { query: "x" });
    const fetched = await registry.call("web_fetch", { url: server.origin });
    expect(fetched.error?.type).toBe("FetchError");
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    [{ provider: "bing" }, /no provider is named `bing`/],
    [{ provider: "brave" }, /`search\.apiKey` is missing; set it, or `BRAVE_API_KEY`/],
    [{ provider: "searxng", url: `ftp://x:${KEY}@a.b` }, /`search\.url` has to begin with/],
    [{ provider: "tavily", apiKey: `${KEY} x y` }, /`search\.apiKey` has characters/],
  ])("refuses the option %j", (search, message) => {
    let thrown: unknown;
    try {
      registryHere({ search });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      type: "InvalidOptions",
      message: expect.stringMatching(message) as string,
    });
    expect(String(thrown)).not.toContain(KEY);
  });
});
