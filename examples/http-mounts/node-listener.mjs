import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Converts a web-standard handler to a listener for `http.createServer` and Express. If the client disconnects,
 * the request is aborted, and with it the tool call.
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
      // The address is no URL, or the client has disconnected.
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
