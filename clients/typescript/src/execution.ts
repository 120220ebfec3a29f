/** Executions: tools that run on the server and outlive the request that started them. */

import { ConnectionError, ExecutionError, TimeoutError, errorOf } from "./errors.js";
import type { Http, Opened } from "./http.js";
import { causeOf, sleep } from "./http.js";
import { readEvents, type ServerEvent } from "./sse.js";
import type { Answer, ExecutionEvent, ExecutionStatus, Question, QuestionHandler, ToolResult } from "./types.js";
import { resultOf } from "./result.js";

/** Seconds that one request waits for the end of an execution. */
const WAIT = 30;
/** Milliseconds to cancel an execution whose caller gave up. */
const ABANDON = 5_000;

export interface WaitOptions {
  /** Milliseconds until `TimeoutError`; the execution goes on. */
  timeout?: number;
  signal?: AbortSignal;
  /** Answers questions of the tool. Without it, they are declined. */
  onQuestion?: QuestionHandler;
}

export interface EventOptions {
  /** The `id` of the last event that is known already. */
  after?: string;
  signal?: AbortSignal;
}

export class Execution {
  readonly #http: Http;
  readonly #path: string;

  /** @internal */
  constructor(
    http: Http,
    path: string,
    readonly id: string,
  ) {
    this.#http = http;
    this.#path = path;
  }

  /** The execution as it is now. */
  async get(options: { signal?: AbortSignal } = {}): Promise<ExecutionStatus> {
    return this.#request("GET", "", options.signal);
  }

  /** The result. Throws the tool's error if it failed. */
  async wait(options: WaitOptions = {}): Promise<ToolResult> {
    const end = options.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.timeout;
    for (;;) {
      const left = (end - Date.now()) / 1000;
      if (left <= 0) {
        const message = `execution ${this.id} has not ended within ${options.timeout} ms; it goes on`;
        throw new TimeoutError("TIMEOUT_ERROR", { message, executionId: this.id });
      }
      const wait = Math.max(1, Math.min(WAIT, Math.ceil(left)));
      const status = await this.#request<ExecutionStatus>("GET", `?wait=${wait}`, options.signal, wait * 1000);
      if (status.state === "waiting" && status.question) await this.respond(status.question, options.onQuestion);
      else if (!["queued", "running", "waiting"].includes(status.state)) return outcomeOf(status);
    }
  }

  /** The events, from the first one or after a known one. A broken stream is resumed. */
  async *events(options: EventOptions = {}): AsyncGenerator<ExecutionEvent> {
    const { signal, after } = options;
    yield* follow(this.#http, { signal, repeatable: true, after }, (last) => this.openEvents(last, signal));
  }

  /** @internal */
  openEvents(last: string | undefined, signal: AbortSignal | undefined): Promise<Opened> {
    const headers = { Accept: "text/event-stream", ...(last === undefined ? {} : { "Last-Event-ID": last }) };
    return this.#http.open({ method: "GET", path: `${this.#path}/events`, headers, signal, repeatable: true });
  }

  /** Cancels it; one that has ended stays as it is. */
  async cancel(options: { signal?: AbortSignal } = {}): Promise<ExecutionStatus> {
    return this.#request("DELETE", "", options.signal);
  }

  /** @internal Cancels it as far as possible, and does not wait long. */
  async abandon(): Promise<void> {
    await this.#request("DELETE", "", AbortSignal.timeout(ABANDON)).catch(() => undefined);
  }

  /** Answers the question that the tool asked. */
  async answer(answer: Answer & { question?: string }, options: { signal?: AbortSignal } = {}): Promise<void> {
    const path = `${this.#path}/answer`;
    // A second answer to the same question is refused, so a repeat would hide that the first arrived.
    await this.#http.json({ method: "POST", path, body: answer, signal: options.signal, repeatable: false });
  }

  /** @internal Answers a question with the handler, or declines it. */
  async respond(question: Question, handler: QuestionHandler | undefined): Promise<void> {
    const answer = (await handler?.(question)) ?? { action: "decline" as const };
    await this.answer({ question: question.id, ...answer });
  }

  async #request<T = ExecutionStatus>(
    method: "GET" | "DELETE",
    query: string,
    signal?: AbortSignal,
    longer = 0,
  ): Promise<T> {
    const timeout = this.#http.options.timeout + longer;
    const sent = { method, path: this.#path + query, signal, repeatable: true, timeout };
    return (await this.#http.json<T>(sent)).body;
  }
}

/** The result of an execution that has ended, or its error. */
function outcomeOf(status: ExecutionStatus): ToolResult {
  if (status.state === "done") return resultOf(status);
  if (status.state === "failed") throw errorOf(status);
  const message =
    status.state === "cancelled"
      ? `execution ${status.executionId} was cancelled`
      : `the server died while execution ${status.executionId} ran; it may or may not have had its effect`;
  const details = { retryable: false, state: status.state };
  throw new ExecutionError("EXECUTION_ERROR", { message, details, executionId: status.executionId });
}

export interface Following {
  signal: AbortSignal | undefined;
  /** True if the stream may be opened again after its connection broke. */
  repeatable: boolean;
  after?: string | undefined;
}

/** The events of a stream up to its result. After a break, `open` gets the id of the last event. */
export async function* follow(
  http: Http,
  { signal, repeatable, after }: Following,
  open: (last: string | undefined) => Promise<Opened>,
): AsyncGenerator<ExecutionEvent> {
  let last = after;
  for (let made = 0; ; ) {
    try {
      for await (const event of opened(await open(last))) {
        made = 0;
        last = event.id ?? last;
        const known = eventOf(event);
        if (known) yield known;
        if (known?.type === "result") return;
      }
      throw new ConnectionError("CONNECTION_ERROR", { message: "the stream ended before the result" });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const pause = error instanceof ConnectionError ? http.pauseAfter(error, made, repeatable) : undefined;
      if (pause === undefined) throw error;
      made += 1;
      await sleep(pause, signal);
    }
  }
}

/** The events of one response. */
async function* opened({ response, alive, close }: Opened): AsyncGenerator<ServerEvent> {
  const events = readEvents(watched(response.body, alive));
  try {
    for (;;) {
      const next = await events.next().catch((cause: unknown) => {
        throw new ConnectionError("CONNECTION_ERROR", { message: `the stream broke off: ${causeOf(cause)}`, cause });
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await events.return(undefined);
    close();
  }
}

/** The stream; comments count as signs of life, too. */
function watched(body: ReadableStream<Uint8Array> | null, alive: () => void): ReadableStream<Uint8Array> {
  if (!body) throw new ConnectionError("CONNECTION_ERROR", { message: "the answer has no body" });
  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      alive();
      controller.enqueue(chunk);
    },
  });
  return body.pipeThrough(transform);
}

/** The event; `undefined` for one of a kind that a newer server may send. */
function eventOf({ id, event, data }: ServerEvent): ExecutionEvent | undefined {
  const value = JSON.parse(data);
  const mark = id === undefined ? {} : { id };
  switch (event) {
    case "state":
      return { ...mark, type: "state", state: value.state };
    case "progress":
      return { ...mark, type: "progress", progress: value };
    case "partial":
      return { ...mark, type: "partial", partial: value };
    case "message":
      return { ...mark, type: "message", message: value };
    case "question":
      return { ...mark, type: "question", question: value };
    case "truncated":
      return { ...mark, type: "truncated" };
    case "result":
      if (value.success !== true) throw errorOf(value);
      return { ...mark, type: "result", result: resultOf(value) };
    default:
      return undefined;
  }
}
