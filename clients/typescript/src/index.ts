/** Calls the tools of a Trunkline server over REST. */

export { TrunklineClient } from "./client.js";
export type { ClientOptions, ExecuteOptions } from "./client.js";
export { Execution } from "./execution.js";
export type { EventOptions, WaitOptions } from "./execution.js";
export {
  ConnectionError,
  ExecutionError,
  ExecutionNotFoundError,
  PermissionError,
  RateLimitError,
  TimeoutError,
  ToolNotFoundError,
  TrunklineError,
  ValidationError,
} from "./errors.js";
export type { ErrorDetails } from "./errors.js";
export type {
  Answer,
  ContentBlock,
  ExecutionEvent,
  ExecutionFilter,
  ExecutionState,
  ExecutionStatus,
  JsonObject,
  LogMessage,
  Priority,
  Progress,
  Question,
  QuestionHandler,
  Tool,
  ToolFilter,
  ToolResult,
} from "./types.js";
