import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Makes a web-standard handler a listener for `http.createServer` and a handler for Express. A client that goes
 * away aborts the request, and with it the call that it asked for.
 */
export function nodeListener(answer) {
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    try {
      const response = await answer(requestOf(incoming, gone.signal));
      outgoing.statusCode = response.status;
      for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
      if (response.body === null) outgoing.end();
      else await pipeline(Readable.fromWeb(response.body), outgoing);
    } catch {
      // An address that is no URL, or a client that has gone.
      if (!outgoing.headersSent) outgoing.statusCode = 400;
      outgoing.end();
    }
  };
}

function requestOf(incoming, signal) {
  const { method, url, headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: hasBody ? Readable.toWeb(incoming) : undefined,
    duplex: "half",
    signal,
  });
}
