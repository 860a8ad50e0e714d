"use strict";

/** @import { createToolRoutes as declared, ToolRoutesRegistry } from "../types/http" */

const { guarded } = require("../boundary/guards.js");
const { ToolError, firstLineOf, shown } = require("../boundary/errors.js");

/** The methods of a registry that the routes need. */
const NEEDED = ["listTools", "getToolInfo", "reloadPlugins"];

/**
 * The REST routes of a registry's tools, as one web-standard handler:
 *
 *     GET  /api/tools         { tools, counts }
 *     GET  /api/tools/:name   one tool, or 404
 *     POST /api/tools/reload  reads the plugin files again
 *
 * It does not check who asks. The server that uses it has to do that first.
 *
 * @type {typeof declared}
 */
function createToolRoutes(registry, options) {
  const prefix = checkedPrefix(options?.prefix ?? "/api/tools");
  for (const method of NEEDED) {
    if (typeof Reflect.get(Object(registry), method) !== "function") {
      throw new ToolError(
        "InvalidOptions",
        `createToolRoutes() takes a registry with ${NEEDED.join(", ")}; \`${method}\` is missing in ${shown(registry)}`,
      );
    }
  }
  return async (request) => {
    try {
      return await answer(registry, prefix, request);
    } catch (error) {
      return json({ error: firstLineOf(error) }, 500);
    }
  };
}

/**
 * @param {ToolRoutesRegistry} registry
 * @param {string} prefix
 * @param {Request} request
 */
async function answer(registry, prefix, request) {
  const { pathname } = new URL(request.url);
  // `/api/tools/` is the list as well.
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  if (path === prefix) {
    return allowed(request, "GET", async () => {
      const tools = await registry.listTools();
      return json({ tools, counts: countsOf(tools) });
    });
  }
  if (!path.startsWith(`${prefix}/`)) return json({ error: `Not found: ${pathname}` }, 404);
  const rest = path.slice(prefix.length + 1);
  if (rest === "reload" && request.method !== "GET" && request.method !== "HEAD") {
    return allowed(request, "POST", async () => json(await registry.reloadPlugins()));
  }
  const name = decoded(rest);
  return allowed(request, "GET", async () => {
    const info = await registry.getToolInfo(name);
    return info === undefined || info === null
      ? json({ error: `Tool not found: ${name}` }, 404)
      : json(info);
  });
}

/**
 * Answers a request by the one method that a path has. `HEAD` is answered like `GET`, without a body.
 *
 * @param {Request} request
 * @param {"GET" | "POST"} method
 * @param {() => Promise<Response>} respond
 */
async function allowed(request, method, respond) {
  const { method: asked } = request;
  if (asked === method) return respond();
  if (asked === "HEAD" && method === "GET") {
    const { status, headers } = await respond();
    return new Response(null, { status, headers });
  }
  const error = `Method not allowed: ${asked}`;
  const allow = method === "GET" ? "GET, HEAD" : method;
  return json({ error }, 405, { allow });
}

/**
 * How many tools there are, in all and of each source. `builtin` and `plugin` are always present.
 *
 * @param {readonly { source?: string }[]} tools
 */
function countsOf(tools) {
  /** @type {Record<string, number>} */
  const counts = { total: tools.length, builtin: 0, plugin: 0 };
  for (const { source } of tools) counts[`${source}`] = (counts[`${source}`] ?? 0) + 1;
  return counts;
}

/**
 * A name in a path. A name that is not encoded correctly is left as it is, and names no tool.
 *
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {unknown} body
 * @param {number} [status]
 * @param {Record<string, string>} [headers]
 */
function json(body, status = 200, headers = {}) {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** @param {string} prefix */
function checkedPrefix(prefix) {
  if (typeof prefix === "string" && /^(\/[^/?#]+)*$/.test(prefix)) return prefix;
  throw new ToolError(
    "InvalidOptions",
    `\`prefix\` must be a path such as "/api/tools", got ${shown(prefix)}`,
  );
}

module.exports = { createToolRoutes: guarded(createToolRoutes, "createToolRoutes") };
