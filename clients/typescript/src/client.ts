/** The client. */

import { ConnectionError, ExecutionError, type TrunklineError } from "./errors.js";
import { Execution, follow } from "./execution.js";
import { Http, type Outgoing } from "./http.js";
import { resultOf } from "./result.js";
import type {
  ExecutionEvent,
  ExecutionFilter,
  ExecutionStatus,
  JsonObject,
  LogMessage,
  Priority,
  Progress,
  QuestionHandler,
  Tool,
  ToolFilter,
  ToolResult,
} from "./types.js";

export interface ClientOptions {
  /** Address of the server. Default: `http://127.0.0.1:8425`. */
  url?: string;
  /** API key or token, or a function that returns one for each request. */
  key?: string | (() => string | Promise<string>);
  /** Only the tools of a view (`team`) or of one server (`server/git`). */
  view?: string;
  /** Milliseconds without an answer, or without a sign of life of a stream. Default: 330,000. */
  timeout?: number;
  /** Further attempts after a failure that allows them. Default: 2. */
  retries?: number;
  /** Sent with every request. */
  headers?: { [name: string]: string };
  fetch?: typeof fetch;
}

export interface ExecuteOptions {
  /** Milliseconds that the server gives the tool. */
  timeout?: number;
  priority?: Priority;
  /** Notes of your own, for the server's records. */
  sessionId?: string;
  userId?: string;
  /** Cancels the tool. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Gets a part of the result before the rest is there. */
  onPartial?: (partial: unknown) => void;
  onMessage?: (message: LogMessage) => void;
  /** Answers questions of the tool. Without it, they are declined. */
  onQuestion?: QuestionHandler;
  /**
   * Names this call, so that the server runs it once however often it is sent. Default: a random
   * one if there are retries. `false` sends none; then a call that may have run is not repeated.
   */
  idempotencyKey?: string | false;
}

const DEFAULT_URL = "http://127.0.0.1:8425";
/** Longer than the time that the server gives a tool by default. */
const DEFAULT_TIMEOUT = 330_000;
const STREAM = { Accept: "text/event-stream, application/json" };

export class TrunklineClient {
  readonly #http: Http;

  constructor(options: ClientOptions = {}) {
    const url = (options.url ?? DEFAULT_URL).replace(/\/+$/, "").replace(/\/mcp$/, "");
    const view = options.view ? `/${options.view.split("/").map(encodeURIComponent).join("/")}` : "";
    this.#http = new Http({
      base: `${url}/mcp${view}`,
      key: options.key,
      headers: { ...options.headers, "X-MCP-Version": "1.0" },
      // Browsers refuse a `fetch` that is called as a method of another object.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      timeout: options.timeout ?? DEFAULT_TIMEOUT,
      retries: options.retries ?? 2,
    });
  }

  /** All tools that you may use and that fit the filter. */
  async discoverTools(filter: ToolFilter = {}): Promise<Tool[]> {
    const { signal, tags, ...texts } = filter;
    const query = new URLSearchParams(texts as { [name: string]: string });
    for (const tag of tags ?? []) query.append("tag", tag);
    return this.#pages<Tool>("/tools", "tools", query, signal);
  }

  /** One tool. */
  async getTool(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    const path = `/tools/${encodeURIComponent(name)}`;
    return (await this.#http.json<Tool>({ method: "GET", path, signal: options.signal, repeatable: true })).body;
  }

  /** Runs a tool and returns its result. Throws a `TrunklineError` if it fails. */
  async executeTool(name: string, params: JsonObject = {}, options: ExecuteOptions = {}): Promise<ToolResult> {
    const { signal, onProgress, onPartial, onMessage, onQuestion } = options;
    const listens = onProgress ?? onPartial ?? onMessage ?? onQuestion;
    if (!listens && this.#keyOf(options) === undefined) {
      return resultOf((await this.#http.json(this.#execution(name, params, options, undefined))).body);
    }
    // A repeat after a failure is a new call with a new key; the same key would return the failure.
    return this.#http.attempts({ repeatable: false, signal }, () => this.#listen(name, params, options));
  }

  async #listen(name: string, params: JsonObject, options: ExecuteOptions): Promise<ToolResult> {
    for await (const event of this.#stream(name, params, options, this.#keyOf(options))) {
      if (event.type === "progress") options.onProgress?.(event.progress);
      else if (event.type === "partial") options.onPartial?.(event.partial);
      else if (event.type === "message") options.onMessage?.(event.message);
      else if (event.type === "result") return event.result;
    }
    throw new ConnectionError("CONNECTION_ERROR", { message: "the stream ended before the result" });
  }

  /** Runs a tool and returns its events; the last one has the result. */
  streamTool(name: string, params: JsonObject = {}, options: ExecuteOptions = {}): AsyncGenerator<ExecutionEvent> {
    return this.#stream(name, params, options, this.#keyOf(options));
  }

  /** Starts a tool that goes on without this client. */
  async startTool(name: string, params: JsonObject = {}, options: ExecuteOptions = {}): Promise<Execution> {
    const outgoing = this.#execution(name, params, options, this.#keyOf(options));
    outgoing.body = { ...(outgoing.body as JsonObject), mode: "async" };
    const { body } = await this.#http.json<ExecutionStatus>(outgoing);
    return this.execution(body.executionId);
  }

  /** An execution that was started before. */
  execution(id: string): Execution {
    return new Execution(this.#http, `/executions/${encodeURIComponent(id)}`, id);
  }

  /** Your executions that run or whose results are kept. */
  async listExecutions(filter: ExecutionFilter = {}): Promise<ExecutionStatus[]> {
    const query = new URLSearchParams();
    for (const state of [filter.state ?? []].flat()) query.append("state", state);
    if (filter.tool !== undefined) query.set("tool", filter.tool);
    if (filter.all) query.set("all", "true");
    return this.#pages<ExecutionStatus>("/executions", "executions", query, filter.signal);
  }

  async *#stream(
    name: string,
    params: JsonObject,
    options: ExecuteOptions,
    key: string | undefined,
  ): AsyncGenerator<ExecutionEvent> {
    const { signal } = options;
    let execution: Execution | undefined;
    let ended = false;
    const start = async () => {
      const outgoing = this.#execution(name, params, options, key);
      const opened = await this.#http.open({ ...outgoing, headers: { ...outgoing.headers, ...STREAM } });
      const id = /\/executions\/([^/]+)$/.exec(opened.response.headers.get("location") ?? "")?.[1];
      if (id !== undefined) execution = this.execution(decodeURIComponent(id));
      return opened;
    };
    try {
      const open = (last?: string) => (execution && last !== undefined ? execution.openEvents(last, signal) : start());
      for await (const event of follow(this.#http, { signal, repeatable: key !== undefined }, open)) {
        ended = event.type === "result";
        if (event.type === "question") await execution?.respond(event.question, options.onQuestion);
        yield event;
      }
    } catch (error) {
      // A failure of the tool ends the execution; a lost connection does not.
      ended = (error as TrunklineError).executionId !== undefined;
      throw error;
    } finally {
      // A named call goes on when its connection is closed.
      if (!ended) await execution?.abandon();
    }
  }

  #keyOf({ idempotencyKey }: ExecuteOptions): string | undefined {
    if (idempotencyKey === false) return undefined;
    return idempotencyKey ?? (this.#http.options.retries > 0 ? randomKey() : undefined);
  }

  /** The request that executes a tool. */
  #execution(name: string, params: JsonObject, options: ExecuteOptions, key: string | undefined): Outgoing {
    const { timeout, priority, sessionId, userId, signal } = options;
    const context = { timeout, priority, sessionId, userId };
    const named = Object.values(context).some((value) => value !== undefined);
    return {
      method: "POST",
      path: `/tools/${encodeURIComponent(name)}/execute`,
      body: named ? { params, context } : { params },
      headers: key === undefined ? {} : { "Idempotency-Key": key },
      signal,
      repeatable: key !== undefined,
    };
  }

  async #pages<T>(path: string, member: string, query: URLSearchParams, signal?: AbortSignal): Promise<T[]> {
    const all: T[] = [];
    for (;;) {
      const outgoing: Outgoing = { method: "GET", path: `${path}?${query}`, signal, repeatable: true };
      const { body } = await this.#http.json<{ nextCursor?: string } & JsonObject>(outgoing);
      all.push(...(body[member] as T[]));
      if (body.nextCursor === undefined) return all;
      if (query.get("cursor") === body.nextCursor) {
        throw new ExecutionError("EXECUTION_ERROR", { message: "the server repeats a page of the list" });
      }
      query.set("cursor", body.nextCursor);
    }
  }
}

/** 128 random bits. `crypto.randomUUID` is missing in pages that were not loaded over HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
