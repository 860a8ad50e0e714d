// The registry over HTTP.

/** Who may ask, and by which names. */
export interface HttpAccessOptions {
  /**
   * The bearer token that a request has to carry: `Authorization: Bearer <token>`. ASCII letters, digits and
   * punctuation.
   */
  token?: string | undefined;
  /**
   * The names by which the routes may be addressed, such as `"tools.example.com"`, besides those of this
   * machine's loopback. A request to another name is refused, because another site may let its own name
   * resolve to this machine (DNS rebinding).
   */
  allowedHosts?: readonly string[] | undefined;
}

/** The options of `registry.fetch`. */
export interface HttpFetchOptions extends HttpAccessOptions {
  /**
   * The path at which you mount the routes, such as `"/tools"`; it is taken off before a route is looked up.
   * Default: none. Frameworks that take it off themselves need none.
   */
  basePath?: string | undefined;
}

/** The options of `registry.serve`. */
export interface HttpServeOptions extends HttpAccessOptions {
  /** The port. Default: `0`, any that is free. */
  port?: number | undefined;
  /**
   * The address to listen at. Default: `"127.0.0.1"`, which only programs on this machine reach. Any other
   * than a loopback address needs a `token` of at least 16 characters.
   */
  host?: string | undefined;
  /** The bearer token of every request. Default: 32 random bytes as text. */
  token?: string | undefined;
}

/** An open server. */
export interface RegistryServer {
  /**
   * The address of the page for a person, with the token in its fragment: `http://127.0.0.1:PORT/#token=…`.
   * It gives access to the tools, so show it only to people you trust.
   */
  readonly url: string;
  /** The address alone, for programs: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  /** The address that it listens at. */
  readonly host: string;
  readonly token: string;
  /**
   * A token for `/mcp` only, for MCP clients and registries on other machines: with it they cannot approve
   * their own calls. It is derived from `token`, so the same `token` gives the same `mcpToken`.
   */
  readonly mcpToken: string;
  /** Makes the server keep the process alive again, after `unref`. */
  ref(): this;
  /** Lets the process end although the server is open. */
  unref(): this;
  /**
   * Accepts no more connections, and resolves when all open ones have ended. Pending answers have a moment to
   * finish, then their calls are cancelled. Closing the registry closes its servers too.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `createToolRoutes` needs of a registry. */
export interface ToolRoutesRegistry {
  listTools(): readonly object[] | Promise<readonly object[]>;
  getToolInfo(name: string): object | undefined | Promise<object | undefined>;
  reloadPlugins(): object | Promise<object>;
}

/**
 * REST routes over a registry, as one web-standard handler for `Bun.serve`, Hono and others: `GET /api/tools`,
 * `GET /api/tools/:name` and `POST /api/tools/reload`. It does not check who asks; do that before it.
 */
export declare function createToolRoutes(
  registry: ToolRoutesRegistry,
  options?: {
    /** The path of the list. Default: `"/api/tools"`. */
    prefix?: string | undefined;
  },
): (request: Request) => Promise<Response>;
