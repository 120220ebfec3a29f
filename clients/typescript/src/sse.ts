/** Reads event streams. */

export interface ServerEvent {
  id?: string;
  event: string;
  data: string;
}

/** The events of a stream. The stream is cancelled when the iteration ends early. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let ended = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      text += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line break.
      const usable = text.endsWith("\r") ? text.slice(0, -1) : text;
      const blocks = usable.replace(/\r\n?/g, "\n").split("\n\n");
      text = blocks.pop() + text.slice(usable.length);
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerEvent | undefined {
  const event: ServerEvent = { event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event.event = value;
    else if (name === "id") event.id = value;
  }
  if (data.length === 0) return undefined;
  event.data = data.join("\n");
  return event;
}
