import type { ChangeEvent, ProcessEvent } from '../protocol/output.js';
import { sseText } from '../protocol/sse.js';
import { bytesText } from './output-json.js';

const encoded = new WeakMap<object, Buffer>();

/** The event-stream text of one batch. Readers at the same place share a batch, and so its text. */
export function eventBytes(batch: ProcessEvent[]): Buffer {
  return shared(batch, () => batch.map(eventText).join(''));
}

/** The event-stream text of changes. */
export function changeBytes(batch: ChangeEvent[]): Buffer {
  return shared(batch, () => batch.map(changeText).join(''));
}

function shared(batch: object, text: () => string): Buffer {
  let bytes = encoded.get(batch);
  if (bytes === undefined) {
    bytes = Buffer.from(text());
    encoded.set(batch, bytes);
  }
  return bytes;
}

function eventText(event: ProcessEvent): string {
  switch (event.event) {
    case 'output': {
      const { seq, stream, chunk } = event;
      // By hand: base64 needs no escapes, and this is most of what is ever sent.
      return sseText({ event: 'output', id: seq, data: `{"seq":${seq},"stream":"${stream}","chunk":"${bytesText(chunk, 'base64')}"}` });
    }
    case 'gap': {
      const { event: name, ...data } = event;
      return sseText({ event: name, id: event.to_seq, data: JSON.stringify(data) });
    }
    case 'exited':
    case 'closed': {
      const { event: name, ...data } = event;
      return sseText({ event: name, id: event.seq, data: JSON.stringify(data) });
    }
  }
}

function changeText(change: ChangeEvent): string {
  switch (change.event) {
    case 'output': {
      const { event, chunk, ...data } = change;
      return sseText({ event, data: JSON.stringify({ ...data, chunk: bytesText(chunk, 'base64') }) });
    }
    case 'gap': {
      const { event, ...data } = change;
      return sseText({ event, data: JSON.stringify(data) });
    }
    case 'snapshot':
    case 'started':
    case 'exited':
    case 'closed':
    case 'removed': {
      const { event, id, ...data } = change;
      return sseText({ event, id, data: JSON.stringify(data) });
    }
  }
}
