// The part of Express that tests use; it has no types.
declare module "express" {
  import type { RequestListener } from "node:http";

  type App = RequestListener & { use(handler: unknown): App };
  const express: { (): App; json(): unknown };
  export default express;
}
