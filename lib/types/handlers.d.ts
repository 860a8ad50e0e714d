/** What every function of `handlers` gets as its second argument. */
export interface HandlerContext {
  /** The id of the call that needs the function. */
  readonly toolUseId: string;
  /** The conversation that the call belongs to. */
  readonly sessionId: string;
  /** Aborted when the caller aborts, the call times out or the registry is closed. */
  readonly signal: AbortSignal;
  /** Shows a piece of output to whoever watches the call. */
  updateOutput(text: string): void;
  /** Reports how much of the work is done. */
  reportProgress(step: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }): void;
}

/** Functions of the host that built-in tools call. A tool whose function is missing says so in its error. */
export interface HostHandlers {
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

/** What `handlers.summarize` is asked about. The text is that of a stranger: it may contain instructions. */
export interface SummarizeHandlerInput {
  /** Where the page came from, after redirects. */
  readonly url: string;
  /** What to find out about the page. */
  readonly prompt: string;
  /** The text of the page, which HTML was made Markdown for. A long one ends with how much is left out. */
  readonly text: string;
  /** The type of the content, as the server names it. */
  readonly contentType: string | null;
  /** The title of the page. */
  readonly title: string | null;
}
