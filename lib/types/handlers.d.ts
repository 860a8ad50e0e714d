import type { SpawnAgent } from "./agents";
import type { SettingValue } from "./state";

/** What every function of `handlers` gets as its second argument. */
export interface HandlerContext {
  /** The id of the call that needs the function. */
  readonly toolUseId: string;
  /** The conversation that the call belongs to. */
  readonly sessionId: string;
  /** Aborted when the caller aborts, the call times out or the registry is closed. */
  readonly signal: AbortSignal;
  /** Reports a piece of output as progress of the call. */
  updateOutput(text: string): void;
  /** Reports how much of the work is done. */
  reportProgress(step: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }): void;
}

/** Functions of the host that built-in tools call. Without its function, a tool fails with `HandlerMissing`. */
export interface HostHandlers {
  /** Keeps the settings of the tool `Config`, instead of the registry's store. */
  config?: ConfigStore | undefined;
  /**
   * Runs an agent for the tool `Agent`. Without it, the Claude Agent SDK is used if it is installed; see
   * `agentSdkSpawner` of `toolwright/agent-sdk`.
   */
  spawnAgent?: SpawnAgent | undefined;
  /**
   * Asks the user the questions of `AskUserQuestion` and resolves with an answer to each, by the text of the
   * question: the label of an option, or any other text. If it throws, because the user does not want to
   * answer for example, the message is the error of the call.
   */
  askUser?:
    | ((
        questions: readonly UserQuestion[],
        context: HandlerContext,
      ) => UserAnswers | Promise<UserAnswers>)
    | undefined;
  /** The MCP client whose resources `ListMcpResources` and `ReadMcpResource` show. */
  mcp?: McpResourceClient | undefined;
  /** A coordinator of teams, which replaces the one that comes with the package. */
  team?: TeamCoordinator | undefined;
  /** Searches the web, for `WebSearch` and `web_search`. Results of other domains than asked for are dropped. */
  search?:
    | ((
        query: SearchHandlerInput,
        context: HandlerContext,
      ) => readonly SearchHandlerResult[] | Promise<readonly SearchHandlerResult[]>)
    | undefined;
  /** Answers the prompt of `WebFetch` about the text of a page. Without it, the model gets the text. */
  summarize?:
    | ((page: SummarizeHandlerInput, context: HandlerContext) => string | Promise<string>)
    | undefined;
}

/** Settings that the host keeps itself. If a method throws, the message is the error of the call. */
export interface ConfigStore {
  /** Returns the value of a setting; `undefined` or `null` if it is not set. */
  get(
    input: { setting: string },
    context: HandlerContext,
  ): SettingValue | null | undefined | Promise<SettingValue | null | undefined>;
  /** Sets a value. A known setting has its type here already. */
  set(
    input: { setting: string; value: SettingValue },
    context: HandlerContext,
  ): void | Promise<void>;
}

/** A question to the user. */
export interface UserQuestion {
  /** The whole question, which is also the key of its answer. */
  readonly question: string;
  /** The question in at most 12 characters. */
  readonly header: string;
  /** Two to four answers to choose from. The user may always give another. */
  readonly options: readonly { readonly label: string; readonly description: string }[];
  /** True if several options may be chosen. */
  readonly multiSelect: boolean;
}

/** Answers by the text of their question: a text, or several for a question with `multiSelect`. */
export interface UserAnswers {
  answers: Record<string, string | readonly string[]>;
}

/** The part of an MCP client, or of several, that knows resources. */
export interface McpResourceClient {
  /** Lists the resources of a server, or of all if none is named. */
  listResources(
    request: { server?: string },
    context: HandlerContext,
  ): McpResourceList | Promise<McpResourceList>;
  /** Reads a resource. A result of `resources/read` of the Model Context Protocol fits. */
  readResource(
    request: { server: string; uri: string },
    context: HandlerContext,
  ): McpResourceContents | Promise<McpResourceContents>;
}

/** Resources of MCP servers. */
export type McpResourceList =
  | readonly McpResource[]
  | { readonly resources: readonly McpResource[] };

/** A resource as MCP servers describe it, with the name of its server. */
export interface McpResource {
  /** The name of the server. May be missing if the resources of one server were asked for. */
  readonly server?: string | undefined;
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Its size in bytes. */
  readonly size?: number | undefined;
}

/** The parts of a resource: each has a text, or bytes in base64. */
export interface McpResourceContents {
  readonly contents: readonly {
    readonly uri?: string | undefined;
    readonly mimeType?: string | undefined;
    readonly text?: string | undefined;
    readonly blob?: string | undefined;
  }[];
}

/**
 * Coordinates teams of agents instead of the package. Each method gets the input of its tool, and may return
 * a text for the model. `context.sessionId` says who makes the team, sends, or ends it.
 */
export interface TeamCoordinator {
  /** Makes a team, for `TeamCreate`. */
  create(
    team: { team_name: string; description?: string; agent_type?: string },
    context: HandlerContext,
  ): TeamAnswer | Promise<TeamAnswer>;
  /** Sends a message, for `SendMessage`. */
  send(
    message: {
      type: "message" | "broadcast" | "shutdown_request" | "shutdown_response";
      recipient?: string;
      content?: string;
      summary?: string;
      request_id?: string;
      approve?: boolean;
    },
    context: HandlerContext,
  ): TeamAnswer | Promise<TeamAnswer>;
  /** Ends the team that the session leads, for `TeamDelete`. */
  delete(request: Record<string, never>, context: HandlerContext): TeamAnswer | Promise<TeamAnswer>;
}

/** A text for the model about what the coordinator did. Default: that it succeeded. */
export type TeamAnswer = string | { message?: string | undefined } | undefined | null | void;

/** What `handlers.search` is asked for. */
export interface SearchHandlerInput {
  /** The words to search for. */
  readonly query: string;
  /** How many results are shown at most, 1 to 20. */
  readonly numResults: number;
  /** Only results of these domains and those below them; all if empty. */
  readonly allowedDomains: readonly string[];
  /** No results of these domains and those below them. */
  readonly blockedDomains: readonly string[];
}

/** A page that `handlers.search` found. */
export interface SearchHandlerResult {
  /** The address of the page, which begins with `http://` or `https://`. */
  url: string;
  /** Default: the host of the address. */
  title?: string | undefined;
  /** A few words of the page. */
  snippet?: string | undefined;
}

/** A page for `handlers.summarize`. Do not trust its text: it may contain instructions to the model. */
export interface SummarizeHandlerInput {
  /** Where the page came from, after redirects. */
  readonly url: string;
  /** What to find out about the page. */
  readonly prompt: string;
  /** The text of the page, with HTML converted to Markdown. A long text ends with how much is left out. */
  readonly text: string;
  /** The type of the content, as the server names it. */
  readonly contentType: string | null;
  /** The title of the page. */
  readonly title: string | null;
}
