// Compiled, never run: the types as a caller uses them.

import { type Execution, RateLimitError, type Tool, TrunklineClient, TrunklineError } from "../dist/index.js";

const client = new TrunklineClient({ url: "http://127.0.0.1:8425", key: async () => "k", retries: 0 });

export async function use(): Promise<string> {
  const tools: Tool[] = await client.discoverTools({ tags: ["a"], server: "s" });
  // @ts-expect-error There is no such priority.
  await client.executeTool("t", {}, { priority: "urgent" });
  for await (const event of client.streamTool("t")) {
    if (event.type === "progress") event.progress.total?.toFixed();
    if (event.type === "result") return event.result.text;
  }
  const execution: Execution = await client.startTool("t", { a: 1 });
  try {
    const result = await execution.wait({ onQuestion: ({ schema }) => (schema ? { content: {} } : null) });
    return result.text + (tools[0]?.inputSchema ? "" : "");
  } catch (error) {
    if (error instanceof RateLimitError) return String(error.retryAfter ?? 0);
    if (error instanceof TrunklineError) return error.details.field ?? error.code;
    throw error;
  }
}
