import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SSE_HEARTBEAT, sseText } from '../../src/protocol/index.js';

const json = fc.json().map((text) => JSON.stringify(JSON.parse(text)));
const frame = fc.record({
  event: fc.constantFrom('output', 'exited', 'closed', 'gap'),
  id: fc.option(fc.maxSafeNat(), { nil: undefined }),
  data: json,
});

function parse(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(text);
  return events;
}

describe('event stream text', () => {
  test('any events come back from a parser of the standard, heartbeats between them unseen', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
        const text = frames.map(sseText).join(SSE_HEARTBEAT);
        const expected = frames.map(({ event, id, data }) => ({ event, id: id === undefined ? undefined : String(id), data }));
        expect(parse(text)).toEqual(expected);
      }),
    );
  });

  test('a frame cut anywhere before its end is no event', () => {
    const text = sseText({ event: 'output', id: 7, data: '{"seq":7}' });
    for (let cut = 0; cut < text.length; cut++) expect(parse(text.slice(0, cut))).toEqual([]);
    expect(parse(text)).toHaveLength(1);
  });

  test('a heartbeat is a comment: no event, no id', () => {
    expect(SSE_HEARTBEAT).toMatch(/^:[^\n]*\n\n$/);
    expect(parse(`${SSE_HEARTBEAT}${sseText({ event: 'closed', data: '{}' })}`)).toEqual([{ event: 'closed', id: undefined, data: '{}' }]);
  });
});
