// The official clients of both major versions, each with the same small interface.
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OldTransport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CallResult } from "../../index.js";

/** A program to start. */
export interface Program {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** An address, with its token. */
export interface Address {
  url: string;
  token: string;
}

/** How to reach a server. */
export type Endpoint = Program | Address;

/** A person's answer to a question of the server. */
export type Elicited = { action: "accept" | "decline"; content?: Record<string, boolean> };

export interface PeerOptions {
  onToolsChanged?: (names: string[]) => void;
  elicit?: (message: string) => Elicited;
}

export interface PeerCallOptions {
  signal?: AbortSignal;
  onprogress?: (news: { progress: number; total?: number | undefined }) => void;
}

export interface Peer {
  version: string | undefined;
  serverName: string | undefined;
  listTools(): Promise<{ name: string; title?: string | undefined }[]>;
  callTool(name: string, args: object, options?: PeerCallOptions): Promise<CallResult>;
  /** Ends the connection and the session, which a client of the newest era does not have. */
  close(): Promise<void>;
}

export type Connect = (endpoint: Endpoint, options?: PeerOptions) => Promise<Peer>;

const WHO = { name: "peer", version: "1" };

function listChanged({ onToolsChanged }: PeerOptions) {
  if (onToolsChanged === undefined) return {};
  const onChanged = (_error: Error | null, tools: { name: string }[] | null) =>
    onToolsChanged((tools ?? []).map(({ name }) => name));
  return { listChanged: { tools: { onChanged, debounceMs: 0 } } };
}

const declared = ({ elicit }: PeerOptions) => (elicit ? { elicitation: {} } : {});

function bearer(token: string) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

const isAddress = (endpoint: Endpoint): endpoint is Address => "url" in endpoint;
const noSession = async () => {};

function oldTransport(endpoint: Endpoint): {
  transport: OldTransport;
  endSession: () => Promise<void>;
} {
  if (!isAddress(endpoint)) {
    const transport = new OldStdioTransport({ ...endpoint, stderr: "ignore" });
    return { transport, endSession: noSession };
  }
  const transport = new OldHttpTransport(new URL(endpoint.url), bearer(endpoint.token));
  return { transport: transport as OldTransport, endSession: () => transport.terminateSession() };
}

function newTransport(endpoint: Endpoint) {
  if (!isAddress(endpoint)) {
    const transport = new StdioClientTransport({ ...endpoint, stderr: "ignore" });
    return { transport, endSession: noSession };
  }
  const transport = new StreamableHTTPClientTransport(
    new URL(endpoint.url),
    bearer(endpoint.token),
  );
  return { transport, endSession: () => transport.terminateSession() };
}

/** The client of SDK 1, which supports protocol versions up to 2025-11-25. */
export const connectOldClient: Connect = async (endpoint, options = {}) => {
  const client = new OldClient(WHO, { capabilities: declared(options), ...listChanged(options) });
  const { elicit } = options;
  if (elicit) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params.message));
  }
  const { transport, endSession } = oldTransport(endpoint);
  let version: string | undefined;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    version = agreed;
    tell?.(agreed);
  };
  await client.connect(transport);
  return {
    version,
    serverName: client.getServerVersion()?.name,
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, callOptions) => {
      const call = { name, arguments: { ...args } };
      return (await client.callTool(call, undefined, callOptions)) as CallResult;
    },
    close: async () => {
      await endSession();
      await client.close();
    },
  };
};

function newClientOf(mode: "legacy" | "auto"): Connect {
  return async (endpoint, options = {}) => {
    const client = new NewClient(WHO, {
      capabilities: declared(options),
      versionNegotiation: { mode },
      ...listChanged(options),
    });
    const { elicit } = options;
    if (elicit) {
      client.setRequestHandler("elicitation/create", ({ params }) => elicit(params.message));
    }
    const { transport, endSession } = newTransport(endpoint);
    await client.connect(transport);
    return {
      version: client.getNegotiatedProtocolVersion(),
      serverName: client.getServerVersion()?.name,
      listTools: async () => (await client.listTools()).tools,
      callTool: async (name, args, callOptions) =>
        (await client.callTool({ name, arguments: { ...args } }, callOptions)) as CallResult,
      close: async () => {
        await endSession();
        await client.close();
      },
    };
  };
}

/** The client of SDK 2, with its default version and with the newest version of the protocol. */
export const connectNewClient = newClientOf("legacy");
export const connectNewestClient = newClientOf("auto");
