import type { EventSourceMessage } from 'eventsource-parser';
import { decodeBase64 } from '../protocol/base64.js';
import { GatewayError } from '../protocol/error.js';
import type { Chunk, OutputEvent } from '../protocol/output.js';

/** A chunk as bytes. */
export const decodeChunk = ({ seq, stream, chunk }: Chunk): OutputEvent => ({
  event: 'output',
  seq,
  stream,
  chunk: decodeBase64(chunk),
});

/**
 * An event as the program sees it: the data's fields, the event's name, bytes for base64, and on request the id.
 * Null for a name that is not among those known: a newer gateway may tell more.
 * @throws {GatewayError} `upstream_unreachable` when the data is not what the gateway sends
 */
export function decodeEvent<Event>({ event = '', id, data }: EventSourceMessage, names: string[], withId = false): Event | null {
  if (!names.includes(event)) return null;
  try {
    const fields = JSON.parse(data);
    if (event === 'output') fields.chunk = decodeBase64(fields.chunk);
    if (withId && event !== 'output' && event !== 'gap') fields.id = Number(id);
    return { event, ...fields } as Event;
  } catch (cause) {
    throw new GatewayError('upstream_unreachable', `The stream holds an event ${event} that no gateway sends.`, {}, { cause });
  }
}
