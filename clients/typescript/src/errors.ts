/** Errors: one class per code of the server, and one for connections. */

import type { JsonObject } from "./types.js";

/** Facts about an error; the server adds others. */
export interface ErrorDetails extends JsonObject {
  /** The member of the request that is not valid, and why. */
  field?: string;
  reason?: string;
  provided?: unknown;
  /** The stable code of docs/errors.md. */
  errorCode?: string;
  suggestedAction?: string;
  retryable?: boolean;
  /** Seconds. */
  retryAfter?: number;
}

interface Facts {
  message: string;
  status?: number | undefined;
  details?: ErrorDetails | undefined;
  retryAfter?: number | undefined;
  executionId?: string | undefined;
  cause?: unknown;
}

export class TrunklineError extends Error {
  /** The code of the server, such as `VALIDATION_ERROR`. */
  readonly code: string;
  /** HTTP status; missing if the error came in an event stream or there was no answer. */
  readonly status?: number;
  readonly details: ErrorDetails;
  /** True if the same call may succeed later, and repeating it does no harm. */
  readonly retryable: boolean;
  /** Seconds to wait before the next attempt. */
  readonly retryAfter?: number;
  /** The execution that failed, if one was started. */
  readonly executionId?: string;

  constructor(code: string, facts: Facts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = facts.details ?? {};
    this.retryable = this.details.retryable ?? facts.retryAfter !== undefined;
    if (facts.status !== undefined) this.status = facts.status;
    if (facts.retryAfter !== undefined) this.retryAfter = facts.retryAfter;
    if (facts.executionId !== undefined) this.executionId = facts.executionId;
  }
}

/** There is no such tool, or you may not use it. */
export class ToolNotFoundError extends TrunklineError {}
/** There is no such execution, or it is not yours. */
export class ExecutionNotFoundError extends TrunklineError {}
/** The request or the arguments are not as they must be. */
export class ValidationError extends TrunklineError {}
/** The tool or its server failed. */
export class ExecutionError extends TrunklineError {}
/** A time limit passed: in the queue, in the tool, or while this client waited. */
export class TimeoutError extends TrunklineError {}
/** Credentials are missing or do not suffice. */
export class PermissionError extends TrunklineError {}
/** Too many requests; `retryAfter` says when to try again. */
export class RateLimitError extends TrunklineError {}
/** There was no answer, or not all of it. A call may have run. */
export class ConnectionError extends TrunklineError {}

const CLASSES: { [code: string]: typeof TrunklineError } = {
  TOOL_NOT_FOUND: ToolNotFoundError,
  EXECUTION_NOT_FOUND: ExecutionNotFoundError,
  VALIDATION_ERROR: ValidationError,
  EXECUTION_ERROR: ExecutionError,
  TIMEOUT_ERROR: TimeoutError,
  PERMISSION_ERROR: PermissionError,
  RATE_LIMIT_ERROR: RateLimitError,
};

/** The error in a body `{"success": false, "error": {…}}`; of any other body, one by its status. */
export function errorOf(body: unknown, status?: number, retryAfter?: number): TrunklineError {
  const { error, metadata } = (body ?? {}) as {
    error?: { code?: string; message?: string; details?: ErrorDetails };
    metadata?: { executionId?: string };
  };
  const code = error?.code ?? codeOf(status);
  const known = CLASSES[code] ?? TrunklineError;
  return new known(code, {
    message: error?.message ?? `the server answered ${status} without an explanation`,
    status,
    details: error?.details,
    // An event stream has no headers of its own.
    retryAfter: retryAfter ?? error?.details?.retryAfter,
    executionId: metadata?.executionId,
  });
}

/** The code of an answer that does not come from Trunkline, such as a proxy's. */
function codeOf(status?: number): string {
  if (status === 401 || status === 403) return "PERMISSION_ERROR";
  if (status === 404) return "TOOL_NOT_FOUND";
  if (status === 429) return "RATE_LIMIT_ERROR";
  if (status === 504) return "TIMEOUT_ERROR";
  return status !== undefined && status < 500 ? "VALIDATION_ERROR" : "EXECUTION_ERROR";
}
