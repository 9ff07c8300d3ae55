/** Server-sent events with the key in the header, which the browser's own EventSource cannot send. */
import { sendPatiently } from "./client";

export interface ServerEvent {
  event: string;
  data: string;
}

function parse(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length > 0 ? { event, data: data.join("\n") } : null;
}

/** Reads one stream until the server ends it; false where the connection broke. */
async function readOnce(path: string, onEvent: (event: ServerEvent) => void, signal: AbortSignal): Promise<boolean> {
  const response = await sendPatiently(path, { signal, headers: { Accept: "text/event-stream" } });
  const reader = response.body?.getReader();
  if (!reader) return true;
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return true;
      rest += decoder.decode(value, { stream: true }).replaceAll("\r", "");
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parse(block);
        if (event) onEvent(event);
      }
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  }
}

/** Calls `onEvent` for each event and resolves when the server ends the stream. A broken connection is taken up again. */
export async function follow(path: string, onEvent: (event: ServerEvent) => void, signal: AbortSignal): Promise<void> {
  while (!(await readOnce(path, onEvent, signal))) await new Promise((resolve) => setTimeout(resolve, 1000));
}
