// The little of Express that tests use; it comes without types.
declare module "express" {
  import type { RequestListener } from "node:http";

  type App = RequestListener & { use(handler: unknown): App };
  const express: { (): App; json(): unknown };
  export default express;
}
