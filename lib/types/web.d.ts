/**
 * How web tools fetch pages. They also use what the environment says when the registry is made: proxies
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) and files of certificate authorities
 * (`NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`).
 */
export interface WebOptions {
  /**
   * What web tools may connect to although it is not on the public internet: hosts (`"intra.example"`), all
   * hosts below one (`"*.intra.example"`), addresses and networks (`"192.168.1.7"`, `"10.0.0.0/8"`), hosts and
   * addresses on one port (`"localhost:8080"`). Link-local and metadata addresses are opened by address only.
   * Default: nothing.
   */
  allow?: readonly string[] | undefined;
  /** How long a fetch may take. Default: 30,000 ms. */
  timeoutMs?: number | undefined;
  /** How many bytes of a page are read, both packed and unpacked; the rest is left out. Default: 10 MiB. */
  maxBytes?: number | undefined;
  /** The header `User-Agent`. Default: `toolwright/` and the version. */
  userAgent?: string | undefined;
}

/** A search service. What is left out is taken from the environment. */
export interface SearchOptions {
  /** `searxng` is a search engine of your own, whose settings list `json` under `search.formats`. */
  provider: "searxng" | "brave" | "tavily";
  /**
   * Its address, if it is not the service's usual one. It may be private: web search alone may reach it.
   * Default for SearXNG: `SEARXNG_URL`.
   */
  url?: string | undefined;
  /** Its key. Default: `BRAVE_API_KEY` or `TAVILY_API_KEY`. No answer and no error shows it. */
  apiKey?: string | undefined;
}
