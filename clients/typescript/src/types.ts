/** The objects that the server sends and takes. */

export type JsonObject = { [name: string]: unknown };

export type Priority = "low" | "normal" | "high";

/** A tool, as the server describes it. */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  /** The configured server that has it. */
  server?: string;
  version?: string;
  author?: string;
  category?: string;
  tags?: string[];
  deprecates?: string[];
  custom?: JsonObject;
}

export interface ToolFilter {
  /** Text in name, title or description. */
  q?: string;
  server?: string;
  category?: string;
  /** All of them must be there. */
  tags?: string[];
  signal?: AbortSignal;
}

/** A part of a result: text, an image, a resource and so on, as MCP has it. */
export interface ContentBlock extends JsonObject {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
}

/** The result of a tool. */
export interface ToolResult {
  content: ContentBlock[];
  structuredContent?: JsonObject;
  /** All text blocks, one per line. */
  text: string;
  executionId: string;
  /** Milliseconds. */
  duration: number;
  timestamp: string;
}

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface LogMessage {
  level: string;
  logger?: string;
  data: unknown;
}

/** A question that a tool asks its caller. */
export interface Question {
  id: string;
  message: string;
  /** JSON Schema of the answer's content. */
  schema?: JsonObject;
}

export interface Answer {
  action?: "accept" | "decline" | "cancel";
  content?: JsonObject;
}

/** Answers a question. `null` declines it. */
export type QuestionHandler = (question: Question) => Answer | null | Promise<Answer | null>;

/** `unknown`: the server died while it ran; it may or may not have had its effect. */
export type ExecutionState = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled" | "unknown";

/** An execution, as the server describes it. */
export interface ExecutionStatus {
  executionId: string;
  tool: string;
  state: ExecutionState;
  queuePosition?: number;
  /** Its id over MCP, if a call over MCP became a task of a server. */
  taskId?: string;
  priority?: Priority;
  createdAt?: string;
  updatedAt?: string;
  deadline?: string;
  progress?: Progress;
  partial?: unknown[];
  question?: Question;
  audit?: string[];
}

export interface ExecutionFilter {
  state?: ExecutionState | ExecutionState[];
  tool?: string;
  /** The executions of all callers; for operators. */
  all?: boolean;
  signal?: AbortSignal;
}

/** An event of a running tool. `id` is there if the stream can be resumed after it. */
export type ExecutionEvent = { id?: string } & (
  | { type: "state"; state: ExecutionState }
  | { type: "progress"; progress: Progress }
  | { type: "partial"; partial: unknown }
  | { type: "message"; message: LogMessage }
  | { type: "question"; question: Question }
  | { type: "truncated" }
  | { type: "result"; result: ToolResult }
);
