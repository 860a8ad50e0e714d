// The network of a command in the sandbox: none, or the hosts that the proxy allows. Servers on this machine stand for
// the rest of the world; `127.0.0.2` is one of its addresses that programs do not treat as their own.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { eventually } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { people, prepare, runInHost } from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const HOST = "127.0.0.2";

function registryWith(network: unknown, options: object = {}): ToolRegistry {
  return registryHere({
    sandbox: { mode: "required", network },
    web: { allow: [HOST, "localhost"] },
    ...options,
  });
}

async function run(registry: ToolRegistry, command: string): Promise<string> {
  return texts(await registry.call("Bash", { command })).join("\n");
}

/** A server that records its requests and counts its connections. */
let server: HttpServer;
let port: number;
let connections: number;

beforeEach(async () => {
  connections = 0;
  server = createHttpServer((request, response) => {
    let length = 0;
    request.on("data", (chunk: Buffer) => (length += chunk.length));
    request.on("end", () => response.end(`${request.method} ${request.url} ${length}`));
  });
  server.on("connection", () => (connections += 1));
  server.listen(0);
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

describe("network: deny", () => {
  test("nothing outside is reached, by any kind of socket", async () => {
    const datagrams = createSocket("udp4");
    let received = 0;
    datagrams.on("message", () => (received += 1));
    datagrams.bind(0, "127.0.0.1");
    await once(datagrams, "listening");
    const abstract = createServer((socket: Socket) => socket.end("reached by name"));
    const name = `toolwright-${process.pid}`;
    let hasAbstract = true;
    abstract.on("error", () => (hasAbstract = false));
    abstract.listen(`\0${name}`);
    await Promise.race([once(abstract, "listening"), once(abstract, "error")]);
    const path = workspace.path("listening.sock");
    const named = createServer((socket: Socket) => socket.end("reached by path"));
    named.listen(path);
    await once(named, "listening");
    workspace.write(
      "reach.py",
      `
import socket, struct
def attempt(what, act):
    try:
        print(what, "REACHED", act())
    except OSError as error:
        print(what, "failed")
def tcp(family, host):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect((host, ${port})); return s
attempt("tcp", lambda: tcp(socket.AF_INET, "127.0.0.1"))
attempt("tcp of another address", lambda: tcp(socket.AF_INET, "${HOST}"))
attempt("tcp6", lambda: tcp(socket.AF_INET6, "::1"))
attempt("tcp outside", lambda: tcp(socket.AF_INET, "192.0.2.1"))
attempt("udp outside", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b"12345678", ("192.0.2.1", 0)))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
import ctypes
def ring():
    if ctypes.CDLL(None, use_errno=True).syscall(425, 8, ctypes.create_string_buffer(256)) < 0: raise OSError()
attempt("io_uring", ring)
attempt("path", lambda: socket.socket(socket.AF_UNIX).connect("${path}"))
attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0${name}"))
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ${datagrams.address().port}))
`,
    );
    const registry = registryWith("deny");
    const output = await run(registry, "python3 reach.py; cat /proc/net/dev | grep -c :");
    expect(output).toContain("tcp failed\ntcp of another address failed\ntcp6 failed\n");
    expect(output).not.toContain("REACHED");
    expect(output).toContain("vsock failed\nio_uring failed\npath failed\nabstract failed\n");
    expect(output).toContain("\n1\n[exit code 0]");
    // A datagram to the same port inside would have arrived by now, because this one is sent later.
    const probe = createSocket("udp4");
    probe.send("x", datagrams.address().port, "127.0.0.1");
    await eventually(() => received > 0, 5_000);
    expect({ connections, received, hasAbstract: hasAbstract || "Bun" }).toMatchObject({
      connections: 0,
      received: 1,
    });
    probe.close();
    datagrams.close();
    named.close();
    if (hasAbstract) abstract.close();
  });

  test("servers of the command itself work on loopback", async () => {
    workspace.write(
      "own.py",
      `
import socket, threading
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.create_server((host, 0), family=family)
    threading.Thread(target=lambda: server.accept()[0].sendall(b"own server")).start()
    print(host, socket.create_connection(server.getsockname()[:2]).recv(99).decode())
`,
    );
    const result = await registryWith("deny").call("Bash", { command: "python3 own.py" });
    expect(texts(result)).toEqual(["127.0.0.1 own server\n::1 own server\n[exit code 0]"]);
  });

  test("a command cannot leave its network, and a new one is no way out", async () => {
    const own = await run(registryWith("allow"), "readlink /proc/self/ns/net");
    const output = await run(
      registryWith("deny"),
      `readlink /proc/self/ns/net
       for pid in /proc/[0-9]*; do nsenter --net=$pid/ns/net readlink /proc/self/ns/net 2>/dev/null; done | sort -u
       nsenter -t 1 -n true 2>&1 | grep -o "not permitted\\|denied" | head -1
       unshare -Urn bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo REACHED' 2>/dev/null
       ip link add v0 type veth peer name v1 netns 1 2>/dev/null && echo REACHED
       true`,
    );
    expect(output).not.toContain("REACHED");
    expect(output).not.toContain(own.split("\n")[0]);
    expect(connections).toBe(0);
  });
});

describe("network: hosts", () => {
  test("programs reach listed hosts, by every kind of proxy", async () => {
    const registry = registryWith({ hosts: [HOST] });
    const url = `http://${HOST}:${port}`;
    workspace.write("body", "x".repeat(1_000_000));
    for (const [command, answer] of [
      [`curl -sS ${url}/curl`, "GET /curl 0"],
      [`curl -sS -T body ${url}/up`, "PUT /up 1000000"],
      [`curl -sS --proxytunnel ${url}/tunnel`, "GET /tunnel 0"],
      [`curl -sS -x "socks5h://\${HTTP_PROXY#http://}" ${url}/socks`, "GET /socks 0"],
      [
        `python3 -c 'import urllib.request as u; print(u.urlopen("${url}/python").read().decode(), end="")'`,
        "GET /python 0",
      ],
      [
        `node -e '
          const proxy = new URL(process.env.http_proxy);
          const { request } = require("http");
          const asked = request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: "${HOST}:${port}" });
          asked.on("connect", (answer, socket) => {
            socket.on("data", (data) => process.stdout.write(String(data).split("\\r\\n\\r\\n")[1]));
            socket.write("GET /node HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n");
          }).end();'`,
        "GET /node 0",
      ],
      [`wget -qO- ${url}/wget`, "GET /wget 0"],
    ] as const) {
      expect(await run(registry, command)).toBe(`${answer}\n[exit code 0]`);
    }
  });

  test("npm and git use the proxy automatically", async () => {
    const registry = registryWith({ hosts: [HOST] });
    const npm = await run(
      registry,
      `npm view some-package --registry http://${HOST}:${port}/ 2>&1`,
    );
    expect(npm).not.toMatch(/ECONNREFUSED|ENETUNREACH|403/);
    const git = await run(registry, `git ls-remote http://${HOST}:${port}/some.git 2>&1`);
    expect(git).not.toMatch(/resolve|refused|unreachable|403/);
    expect(connections).toBeGreaterThanOrEqual(2);
  });

  test("a host that is not listed is refused with a reason, and no connection is made", async () => {
    const registry = registryWith({ hosts: ["docs.rs", "*.example.com"] });
    const output = await run(
      registry,
      `curl -sS http://${HOST}:${port}/; curl -sS --proxytunnel http://${HOST}:${port}/ 2>&1;
       curl -sS -x "socks5h://\${HTTP_PROXY#http://}" http://${HOST}:${port}/ 2>&1;
       curl -sS --noproxy '*' http://${HOST}:${port}/ 2>&1;
       exec 3<>/dev/tcp/${HOST}/${port} && echo REACHED`,
    );
    expect(output).toContain(
      `toolwright: \`${HOST}:${port}\` is not among the hosts that this command may reach\n`,
    );
    expect(output).toMatch(/response 403|403 from proxy/i);
    expect(output).toMatch(/SOCKS5|socks/i);
    expect(output).not.toContain("REACHED");
    expect(output).toContain(`[not connected: \`${HOST}:${port}\` is not among the hosts`);
    expect(connections).toBe(0);
  });

  test("a listed name with a private address is refused, as for a page", async () => {
    const registry = registryWith({ hosts: ["localhost"] }, { web: {} });
    const straight = "env -u NO_PROXY -u no_proxy";
    const closed = await run(registry, `${straight} curl -sS http://localhost:${port}/`);
    expect(closed).toContain(
      "`localhost` leads to a loopback address, which commands cannot reach",
    );
    const open = registryWith({ hosts: ["localhost"] });
    expect(await run(open, `${straight} curl -sS http://localhost:${port}/a`)).toContain(
      "GET /a 0",
    );
  });

  test("rules that deny or ask about a host also apply to commands", async () => {
    const refused = `toolwright: \`${HOST}\` is not open to commands\n`;
    for (const [rules, answer] of [
      [{ deny: [`WebFetch(domain:${HOST})`] }, refused],
      [{ ask: [`WebFetch(domain:${HOST})`] }, refused],
      [{ deny: ["WebFetch(domain:docs.rs)"] }, "GET / 0"],
      [{ deny: ["WebFetch"] }, "GET / 0"],
    ] as const) {
      const registry = registryWith({ hosts: [HOST] }, { policy: rules });
      // In a form in which the rules themselves find no host.
      const command = `a=127.0.0; curl -sS "$a".2:${port}/`;
      const output = await run(registry, command);
      expect([rules, output]).toEqual([rules, expect.stringContaining(answer)]);
    }
  });

  test("connections end with their command", async () => {
    const registry = registryWith({ hosts: [HOST] });
    const open = new Set<Socket>();
    const silent: Server = createServer((socket) => {
      open.add(socket);
      socket.resume().on("close", () => open.delete(socket));
    });
    silent.listen(0, HOST);
    await once(silent, "listening");
    const target = `http://${HOST}:${(silent.address() as AddressInfo).port}/`;
    const started = await registry.call("Bash", {
      command: `for i in 1 2 3; do curl -sSN --proxytunnel ${target} & done; curl -sSN ${target}`,
      run_in_background: true,
    });
    expect(await eventually(() => open.size === 4, 10_000)).toBe(true);
    const id = /task_\d+/.exec(texts(started).join())?.[0] ?? "none";
    await registry.call("TaskStop", { task_id: id });
    expect(await eventually(() => open.size === 0, 10_000)).toBe(true);
    // A process that a command leaves behind ends with it, and so with the registry.
    await registry.call("Bash", { command: `curl -sSN ${target}`, run_in_background: true });
    expect(await eventually(() => open.size === 1, 10_000)).toBe(true);
    await registry.close();
    expect(await eventually(() => open.size === 0, 10_000)).toBe(true);
    silent.close();
  });

  test("each command has its own network", async () => {
    const registry = registryWith({ hosts: [HOST] });
    await registry.call("Bash", {
      command: "python3 -m http.server 8765 --bind 127.0.0.1",
      run_in_background: true,
    });
    const output = await run(
      registry,
      "readlink /proc/self/ns/net; curl -sS http://127.0.0.1:8765/ 2>&1",
    );
    expect(output).toMatch(/Failed to connect|refused/);
  });
});

describe("network: allow", () => {
  test("servers are reached, except those that type into a terminal for a client", async () => {
    const folder = `/tmp/tmux-${process.getuid?.()}`;
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = `${folder}/toolwright-${process.pid}`;
    const terminal = createServer((socket: Socket) => socket.end("typed"));
    terminal.listen(path);
    await once(terminal, "listening");
    const connect = `import socket; s = socket.socket(socket.AF_UNIX); s.connect("${path}"); print(s.recv(9))`;
    const output = await run(
      registryWith("allow"),
      `curl -sS http://127.0.0.1:${port}/; python3 -c '${connect}' 2>&1 | tail -1`,
    );
    expect(output).toMatch(/^GET \/ 0(Connection|Permission|OSError)/);
    terminal.close();
    await once(terminal, "close");
    if (made !== undefined) rmSync(folder, { recursive: true });
  });
});

describe.each(people)("for $name", (person) => {
  test("a closed network is closed, and a proxy allows listed hosts", async () => {
    workspace.write("project/nothing", "");
    const owner = person.user === undefined ? "" : `chown -R ${person.user}:${person.user} .`;
    prepare(`mkdir home; chmod 755 .; ${owner}`, workspace.root);
    const web = { allow: [HOST] };
    const url = `http://${HOST}:${port}/`;
    const runs = (["deny", { hosts: [HOST] }, { hosts: ["docs.rs"] }] as const).map((network) => ({
      projectPath: workspace.path("project"),
      lines: [`curl -sS ${url} 2>&1`, `curl -sS --noproxy '*' ${url} 2>&1`],
      options: { sandbox: { mode: "required", network }, web },
    }));
    const { ended } = await runInHost({ person, home: workspace.path("home") }, runs);
    const [denied, listed, unlisted] = ended.map((lines) => lines.map((it) => it.text));
    const closed = expect.stringMatching(/^curl: \(7\) Failed to connect/);
    expect(denied).toEqual([closed, closed]);
    expect(listed).toEqual(["GET / 0\n[exit code 0]", closed]);
    expect(unlisted).toEqual([expect.stringMatching(/^toolwright: .* is not among/), closed]);
    expect(connections).toBe(1);
  });
});
