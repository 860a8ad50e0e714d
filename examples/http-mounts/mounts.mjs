// The routes of a registry at `/tools` of a server that a program has anyway. Each function returns what its
// framework calls an app. None gives a token, so the server has to check who asks before it gets here.
import { nodeListener } from "./node-listener.mjs";

/** For `Bun.serve({ fetch, idleTimeout: 60 })`: a stream may say nothing for 15 s, and Bun waits for 10. */
export function bun(registry) {
  return (request) => registry.fetch(request, { basePath: "/tools" });
}

/** For `http.createServer(listener)`. */
export function node(registry) {
  return nodeListener((request) => registry.fetch(request, { basePath: "/tools" }));
}

/** Express takes the path off itself. Body parsers come after this, because they read the body. */
export function express(app, registry) {
  app.use(
    "/tools",
    nodeListener((request) => registry.fetch(request)),
  );
  return app;
}

/** Hono takes the path off itself. */
export function hono(app, registry) {
  app.mount("/tools", (request) => registry.fetch(request));
  return app;
}

/** Elysia takes the path off itself. */
export function elysia(app, registry) {
  return app.mount("/tools", (request) => registry.fetch(request));
}

/** For `app/tools/[[...path]]/route.js` of Next. */
export function next(registry) {
  const answer = (request) => registry.fetch(request, { basePath: "/tools" });
  return { GET: answer, POST: answer, DELETE: answer };
}
