/** Results of tools. */

import type { ContentBlock, JsonObject, ToolResult } from "./types.js";

/** The result in a body `{"success": true, "result", "metadata"}`. */
export function resultOf(body: unknown): ToolResult {
  const { result, metadata, executionId } = body as {
    result: { content?: ContentBlock[]; structuredContent?: JsonObject } & JsonObject;
    metadata?: { executionId: string; duration: number; timestamp: string };
    executionId?: string;
  };
  const content = result.content ?? [];
  const texts = content.filter((block) => block.type === "text").map((block) => block.text ?? "");
  return {
    ...result,
    content,
    text: texts.join("\n"),
    executionId: metadata?.executionId ?? executionId ?? "",
    duration: metadata?.duration ?? 0,
    timestamp: metadata?.timestamp ?? "",
  };
}
