/**
 * How web tools fetch pages. They also use variables of the environment when the registry is made: proxies
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) and files of certificate authorities
 * (`NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`).
 */
export interface WebOptions {
  /**
   * Addresses outside of the public internet that web tools may connect to: hosts (`"intra.example"`), all
   * subdomains of a host (`"*.intra.example"`), addresses and networks (`"192.168.1.7"`, `"10.0.0.0/8"`), hosts
   * and addresses with one port (`"localhost:8080"`). Link-local and metadata addresses have to be given as
   * addresses. Default: none.
   */
  allow?: readonly string[] | undefined;
  /** How long a fetch may take. Default: 30,000 ms. */
  timeoutMs?: number | undefined;
  /** How many bytes of a page are read, both packed and unpacked; the rest is left out. Default: 10 MiB. */
  maxBytes?: number | undefined;
  /** The header `User-Agent`. Default: `toolwright/` and the version. */
  userAgent?: string | undefined;
}

/** A search service. Missing settings are taken from the environment. */
export interface SearchOptions {
  /** `searxng` is a search engine that you host. Its settings have to list `json` in `search.formats`. */
  provider: "searxng" | "brave" | "tavily";
  /**
   * Its address, if it is not the service's usual one. It may be private: only web search may reach it.
   * Default for SearXNG: `SEARXNG_URL`.
   */
  url?: string | undefined;
  /** Its key. Default: `BRAVE_API_KEY` or `TAVILY_API_KEY`. No answer and no error shows it. */
  apiKey?: string | undefined;
}
