import { seqOf } from '../protocol/event-seq.js';
import type { ChangeEvent, ProcessEvent } from '../protocol/output.js';
import { sseText } from '../protocol/sse.js';
import { asciiBytes } from './ascii-bytes.js';
import { bytesText } from './output-json.js';
import { encodeOnce } from './shared-bytes.js';

/** Stands for the bytes of a chunk while its text is made. */
const PLACE = '*';

/** The event-stream text of one batch. */
export const eventBytes = encodeOnce((batch: ProcessEvent[]) => asciiBytes(batch.flatMap(eventParts)));

/** The event-stream text of changes. */
export const changeBytes = encodeOnce((batch: ChangeEvent[]) => Buffer.from(batch.map(changeText).join('')));

function eventParts(event: ProcessEvent): (string | Uint8Array)[] {
  if (event.event === 'output') {
    const { seq, stream, chunk } = event;
    const [head, tail] = sseText({ event: 'output', id: seq, data: `{"seq":${seq},"stream":"${stream}","chunk":"${PLACE}"}` }).split(PLACE);
    return [head as string, chunk, tail as string];
  }
  const { event: name, ...data } = event;
  return [sseText({ event: name, id: seqOf(event), data: JSON.stringify(data) })];
}

function changeText(change: ChangeEvent): string {
  switch (change.event) {
    case 'output': {
      const { event, id, chunk, ...data } = change;
      return sseText({ event, id, data: JSON.stringify({ ...data, chunk: bytesText(chunk, 'base64') }) });
    }
    case 'gap':
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
