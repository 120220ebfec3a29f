/** HTTP requests with credentials, time limits and retries. */

import { ConnectionError, errorOf, TimeoutError, TrunklineError } from "./errors.js";

export interface HttpOptions {
  base: string;
  key?: string | (() => string | Promise<string>) | undefined;
  headers: { [name: string]: string };
  fetch: typeof fetch;
  /** Milliseconds without an answer, or without any data of a stream. */
  timeout: number;
  retries: number;
}

export interface Outgoing {
  method: "GET" | "POST" | "DELETE";
  path: string;
  body?: unknown;
  headers?: { [name: string]: string };
  signal?: AbortSignal | undefined;
  /** True if a repeat does no harm although the first request may have arrived. */
  repeatable: boolean;
  /** Milliseconds that this request may take; the usual limit if it is missing. */
  timeout?: number;
}

/** Longest pause that is made between attempts; a longer `Retry-After` is left to the caller. */
const LONGEST_PAUSE = 60_000;
const FIRST_PAUSE = 200;

/** A response whose connection ends with `close`. */
export interface Opened {
  response: Response;
  /** Restarts the time limit; called for each part of a stream. */
  alive(): void;
  close(): void;
}

export class Http {
  constructor(readonly options: HttpOptions) {}

  /** A request whose answer is JSON. */
  async json<T>(outgoing: Outgoing): Promise<{ body: T; response: Response }> {
    return this.attempts(outgoing, async () => {
      const { response, close } = await this.open(outgoing);
      try {
        return { body: (await readJson(response)) as T, response };
      } finally {
        close();
      }
    });
  }

  /** Repeats `attempt` while it fails in a way that allows that. */
  async attempts<T>(outgoing: Pick<Outgoing, "repeatable" | "signal">, attempt: () => Promise<T>): Promise<T> {
    for (let made = 0; ; made += 1) {
      try {
        return await attempt();
      } catch (error) {
        const pause = this.pauseAfter(error, made, outgoing.repeatable);
        if (pause === undefined) throw error;
        await sleep(pause, outgoing.signal);
      }
    }
  }

  /** Milliseconds to wait before the next attempt; `undefined` if there is none. */
  pauseAfter(error: unknown, made: number, repeatable: boolean): number | undefined {
    if (!(error instanceof TrunklineError) || made >= this.options.retries) return undefined;
    // Without an answer the request may have arrived; with one, the server says what holds.
    const may = error instanceof ConnectionError ? repeatable : error.retryable;
    const backoff = FIRST_PAUSE * 2 ** made * (0.5 + Math.random() / 2);
    const pause = Math.max((error.retryAfter ?? 0) * 1000, backoff);
    return may && pause <= LONGEST_PAUSE ? pause : undefined;
  }

  /** Sends a request once, and returns its successful response; the body is not read yet. */
  async open(outgoing: Outgoing): Promise<Opened> {
    const { options } = this;
    const headers: { [name: string]: string } = { Accept: "application/json", ...options.headers, ...outgoing.headers };
    const key = typeof options.key === "function" ? await options.key() : options.key;
    if (key) headers.Authorization = `Bearer ${key}`;
    if (outgoing.body !== undefined) headers["Content-Type"] = "application/json";
    const watch = new Watch(outgoing.timeout ?? options.timeout, outgoing.signal);
    try {
      const response = await options.fetch(options.base + outgoing.path, {
        method: outgoing.method,
        headers,
        signal: watch.signal,
        // The server never redirects; headers and arguments must not follow to another one.
        redirect: "error",
        ...(outgoing.body === undefined ? {} : { body: JSON.stringify(outgoing.body) }),
      });
      if (!response.ok) throw await refusal(response);
      return { response, alive: () => watch.restart(), close: () => watch.end() };
    } catch (error) {
      watch.end();
      throw watch.explain(error, outgoing);
    }
  }
}

/** Aborts a request after a time without a sign of life, or when its caller does. */
class Watch {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #limit: number;
  readonly #onAbort = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #late = false;

  constructor(limit: number, caller: AbortSignal | undefined) {
    this.#limit = limit;
    this.#caller = caller;
    if (caller?.aborted) this.#onAbort();
    caller?.addEventListener("abort", this.#onAbort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#controller.abort();
    }, this.#limit);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }

  /** The error to throw: the caller's own reason, ours, or that of the connection. */
  explain(error: unknown, outgoing: Outgoing): unknown {
    if (this.#caller?.aborted) return this.#caller.reason;
    if (error instanceof TrunklineError) return error;
    const what = `${outgoing.method} ${outgoing.path}`;
    if (this.#late) {
      return new TimeoutError("TIMEOUT_ERROR", { message: `no answer to ${what} within ${this.#limit} ms`, cause: error });
    }
    return new ConnectionError("CONNECTION_ERROR", { message: `no answer to ${what}: ${causeOf(error)}`, cause: error });
  }
}

async function refusal(response: Response): Promise<TrunklineError> {
  const text = await response.text();
  const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
  return errorOf(parsed(text), response.status, Number.isFinite(wait) ? wait : undefined);
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw new ConnectionError("CONNECTION_ERROR", { message: `the answer broke off: ${causeOf(cause)}`, cause });
  });
  const body = parsed(text);
  if (body === undefined) {
    throw new TrunklineError("UNEXPECTED_ANSWER", { message: "the answer is no JSON; is this a Trunkline server?" });
  }
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function causeOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  const inner = cause?.message || cause?.code;
  return inner ? `${message}: ${inner}` : (message ?? String(error));
}

export function sleep(millis: number, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, millis);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
