// A proxy that adds the server's token: the suite has no option for headers.
import { createServer, request } from "node:http";

/**
 * Forwards everything to a server on the loopback interface. In `Host` and `Origin` only the proxy's port is
 * replaced, so that the server checks what the suite sent.
 *
 * @param {URL} server
 * @param {string} token
 * @returns {Promise<{ url: URL, close(): Promise<void> }>}
 */
export async function openTokenProxy(server, token) {
  const proxy = createServer((incoming, answer) => {
    const { port } = proxy.address();
    const toServer = (value) => value?.replace(new RegExp(`:${port}$`), `:${server.port}`);
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    for (const name of ["host", "origin"]) {
      if (headers[name] !== undefined) headers[name] = toServer(headers[name]);
    }
    const { method, url: path } = incoming;
    const { hostname: host } = server;
    const outgoing = request({ host, port: server.port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode, response.headers);
      answer.flushHeaders();
      response.pipe(answer);
      response.on("error", () => answer.destroy());
    });
    outgoing.on("error", () => answer.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: new URL(`http://127.0.0.1:${proxy.address().port}`),
    close: () => {
      proxy.closeAllConnections();
      return new Promise((resolve) => {
        proxy.close(() => resolve());
      });
    },
  };
}
