// Checked by tsc, never run: the registry over HTTP in a user's program.
import {
  type HttpFetchOptions,
  type HttpServeOptions,
  type RegistryServer,
  createToolRegistry,
} from "../../index.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Claim extends true>(): void {}

const registry = createToolRegistry();

holds<Equal<ReturnType<typeof registry.fetch>, Promise<Response>>>();
holds<Equal<ReturnType<typeof registry.serve>, Promise<RegistryServer>>>();
holds<Equal<Parameters<typeof registry.fetch>[1], HttpFetchOptions | undefined>>();
holds<Equal<RegistryServer["port"], number>>();

export async function use(): Promise<void> {
  await using server = await registry.serve({
    port: 0,
    host: "127.0.0.1",
    token: undefined,
    allowedHosts: ["a.example"] as const,
  } satisfies HttpServeOptions);
  const chained: RegistryServer = server.unref().ref();
  const address: string = chained.url + server.origin + server.host + server.token;
  // @ts-expect-error the address of a server is read-only
  server.port = 3;
  // @ts-expect-error ports are numbers
  await registry.serve({ port: "8080" });
  // @ts-expect-error only `fetch` has a base path
  await registry.serve({ basePath: "/tools" });
  // @ts-expect-error a URL is not a request
  await registry.fetch(address);
  const response = await registry.fetch(new Request(address), { basePath: "/tools", token: "x" });
  await response.json();
}

// Types that route handlers and servers accept.
export const GET = (request: Request): Promise<Response> => registry.fetch(request);
