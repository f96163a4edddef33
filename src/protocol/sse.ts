/** One server-sent event before it is text. `data` is a single line, which JSON always is. */
export interface SseFrame {
  event: string;
  id?: number | string | undefined;
  data: string;
}

/** The media type of an event stream (HTML standard, server-sent events). */
export const SSE_TYPE = 'text/event-stream';

/** A comment: keeps the connection alive, carries no id, moves no cursor. */
export const SSE_HEARTBEAT = ': keep-alive\n\n';

/** The text of one event. The id comes first, so that a cut frame never moves the resume point. */
export function sseText({ event, id, data }: SseFrame): string {
  return id === undefined ? `event: ${event}\ndata: ${data}\n\n` : `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}
