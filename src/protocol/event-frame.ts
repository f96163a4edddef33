import type { ProcessEvent } from './output.js';

/** The media type of events of a process with their bytes as they are: a line of JSON each, and after it so many bytes as it says. */
export const EVENT_FRAMES_TYPE = 'application/vnd.exec-gateway.events';

/** An empty line: keeps the connection alive, tells nothing. */
export const FRAME_HEARTBEAT = '\n';

/** The line ahead of an event: its fields as JSON, where `bytes` stands for the `chunk` that follows the line. */
export function frameLine(event: ProcessEvent): string {
  if (event.event !== 'output') return `${JSON.stringify(event)}\n`;
  const { seq, stream, chunk } = event;
  return `{"event":"output","seq":${seq},"stream":"${stream}","bytes":${chunk.length}}\n`;
}
