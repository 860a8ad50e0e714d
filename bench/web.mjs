// Fetching a page of 1 MB from loopback and converting it to text, compared with fetch and npm packages.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { convert } from "html-to-text";
import TurndownService from "turndown";
import { createToolRegistry } from "../index.mjs";
import { Suite, sequential } from "./harness.mjs";

export const web = new Suite("web");

const PAGE_BYTES = 1_000_000;

/** A page like those of documentation: prose with links, code, lists and tables, scripts and styles. */
function page() {
  const parts = [
    "<!doctype html><html><head><title>Reference</title>",
    `<style>${".a{color:red}".repeat(400)}</style><script>${"var x = 1;".repeat(400)}</script></head><body>`,
    '<nav><ul><li><a href="/">Home</a></li><li><a href="/docs">Docs</a></li></ul></nav><main>',
  ];
  for (let size = 0, at = 0; size < PAGE_BYTES; at += 1) {
    const section = `<section id="s${at}" class="section level2"><h2><a href="#s${at}">Section ${at}</a></h2>
<p>The function <code>compute${at}</code> takes <em>two</em> values &amp; returns their <strong>sum</strong>, as
<a href="/reference/sum-${at}.html" title="Sum">the reference</a> says. It&rsquo;s used in many places, and most
of them are described further below, with the reasons for each choice that was made along the way.</p>
<pre><code class="language-js"><span class="kw">const</span> value${at} = compute${at}(${at}, <span class="n">2</span>);
if (value${at} &gt; 10) {
  report(value${at});
}
</code></pre>
<ul><li>fast: <a href="../bench#${at}">see the numbers</a></li><li>safe<ul><li>and small</li></ul></li></ul>
<table><thead><tr><th>name</th><th>type</th><th>meaning</th></tr></thead><tbody>
<tr><td>a</td><td>number</td><td>the first value</td></tr><tr><td>b</td><td>number</td><td>the second value</td></tr>
</tbody></table></section>\n`;
    parts.push(section);
    size += section.length;
  }
  parts.push("</main><footer>2026</footer></body></html>");
  return parts.join("");
}

/** Serves the page from a separate thread, so that no contender waits for the server's JavaScript. */
const server = new Worker(
  `const { parentPort, workerData } = require("node:worker_threads");
  const body = Buffer.from(workerData);
  require("node:http")
    .createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": body.length });
      response.end(body);
    })
    .listen(0, "127.0.0.1", function () { parentPort.postMessage(this.address().port); });`,
  { eval: true, workerData: page() },
);
const [port] = await once(server, "message");
server.unref();

const registry = createToolRegistry({
  toolsets: ["claude", "classic"],
  permissionMode: "bypassPermissions",
  userPolicyFile: false,
  web: { allow: ["127.0.0.1"] },
  limits: { maxResultBytes: 4_000_000 },
});

let fetched = 0;
/** A different address each time, so that no answer comes from a cache. */
const nextUrl = () => `http://127.0.0.1:${port}/?${(fetched += 1)}`;

async function called(name, input) {
  const result = await registry.call(name, { url: nextUrl(), ...input });
  const text = result.content[0]?.text ?? "";
  if (result.isError || !text.includes("compute7"))
    throw new Error(`no text: ${text.slice(0, 200)}`);
  return text;
}

async function fetchedHtml() {
  const response = await fetch(nextUrl());
  return response.text();
}

const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
turndown.remove(["script", "style"]);

web.task({
  title: "fetch a page of 1 MB and make it text",
  baseline: "fetch and html-to-text",
  rounds: 15,
  contenders: {
    "fetch and html-to-text": sequential(async () => convert(await fetchedHtml())),
    web_fetch: sequential(() => called("web_fetch", { maxLength: 1_000_000 })),
  },
  budgets: [{ contender: "web_fetch", atMost: 0.5 }],
});

web.task({
  title: "fetch a page of 1 MB and make it Markdown",
  baseline: "fetch and turndown",
  rounds: 15,
  contenders: {
    "fetch and turndown": sequential(async () => turndown.turndown(await fetchedHtml())),
    WebFetch: sequential(() => called("WebFetch", { prompt: "What does it say?" })),
  },
  budgets: [{ contender: "WebFetch", atMost: 0.5 }],
  cleanUp: async () => {
    await registry.close();
    await server.terminate();
  },
});
