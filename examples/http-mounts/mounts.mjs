// Mounts the routes of a registry at `/tools` of an existing server. Each function returns what its framework
// calls an app. None sets a token, so the server has to authenticate requests before they get here.
import { nodeListener } from "./node-listener.mjs";

/** For `Bun.serve({ fetch, idleTimeout: 60 })`: a stream may be silent for 15 s, and Bun's default is 10 s. */
export function bun(registry) {
  return (request) => registry.fetch(request, { basePath: "/tools" });
}

/** For `http.createServer(listener)`. */
export function node(registry) {
  return nodeListener((request) => registry.fetch(request, { basePath: "/tools" }));
}

/** Express removes the mount path itself. Body parsers must come after this, because they consume the body. */
export function express(app, registry) {
  app.use(
    "/tools",
    nodeListener((request) => registry.fetch(request)),
  );
  return app;
}

/** Hono removes the mount path itself. */
export function hono(app, registry) {
  app.mount("/tools", (request) => registry.fetch(request));
  return app;
}

/** Elysia removes the mount path itself. */
export function elysia(app, registry) {
  return app.mount("/tools", (request) => registry.fetch(request));
}

/** For `app/tools/[[...path]]/route.js` of Next. */
export function next(registry) {
  const answer = (request) => registry.fetch(request, { basePath: "/tools" });
  return { GET: answer, POST: answer, DELETE: answer };
}
