import { describe, expect, test } from 'vitest';
import { type ConditionHeaders, entityTags, judge, rangeCounts } from '../../src/routes/preconditions.js';

const MODIFIED = Date.parse('2026-01-15T09:30:00.500Z');
const SAME = 'Thu, 15 Jan 2026 09:30:00 GMT';
const BEFORE = 'Thu, 15 Jan 2026 09:29:59 GMT';
const AFTER = 'Thu, 15 Jan 2026 09:30:01 GMT';

/** RFC 9110 §13.2.2, step by step. */
describe('judge', () => {
  test.each<[ConditionHeaders, string]>([
    [{}, 'send'],
    [{ 'if-match': '"a"' }, 'send'],
    [{ 'if-match': '"b", "a"' }, 'send'],
    [{ 'if-match': '*' }, 'send'],
    [{ 'if-match': '"b"' }, 'failed'],
    [{ 'if-match': 'W/"a"' }, 'failed'],
    [{ 'if-unmodified-since': SAME }, 'send'],
    [{ 'if-unmodified-since': AFTER }, 'send'],
    [{ 'if-unmodified-since': BEFORE }, 'failed'],
    [{ 'if-unmodified-since': 'yesterday' }, 'send'],
    [{ 'if-match': '"a"', 'if-unmodified-since': BEFORE }, 'send'],
    [{ 'if-none-match': '"a"' }, 'not_modified'],
    [{ 'if-none-match': 'W/"a"' }, 'not_modified'],
    [{ 'if-none-match': '"b" , "a"' }, 'not_modified'],
    [{ 'if-none-match': '*' }, 'not_modified'],
    [{ 'if-none-match': '"b"' }, 'send'],
    [{ 'if-modified-since': SAME }, 'not_modified'],
    [{ 'if-modified-since': AFTER }, 'not_modified'],
    [{ 'if-modified-since': BEFORE }, 'send'],
    [{ 'if-modified-since': '2026-01-15T09:30:00Z' }, 'send'],
    [{ 'if-none-match': '"b"', 'if-modified-since': AFTER }, 'send'],
    [{ 'if-match': '"a"', 'if-none-match': '"a"' }, 'not_modified'],
    [{ 'if-match': '"b"', 'if-none-match': '"a"' }, 'failed'],
  ])('%j', (headers, verdict) => {
    expect(judge(headers, { etag: '"a"', modified_ms: MODIFIED })).toBe(verdict);
  });
});

test.each(['a', '"a', 'a"', '"a" b', 'W/ "a"', '', '*, "a"', "'a'", '"a";"b"'])('entity tags that are none are told: %s', (header) => {
  expect(() => entityTags('If-Match', header)).toThrow(expect.objectContaining({ code: 'invalid_request', fields: { field: 'If-Match' } }));
});

test('a list of nothing but commas is judged in no time', () => {
  const begun = performance.now();
  expect(() => entityTags('If-Match', `"a"${' ,'.repeat(8000)}!`)).toThrow();
  expect(performance.now() - begun).toBeLessThan(1000);
});

test('a part counts under its own entity tag alone, never under a date', () => {
  expect(rangeCounts({}, '"a"')).toBe(true);
  expect(rangeCounts({ 'if-range': '"a"' }, '"a"')).toBe(true);
  for (const other of ['"b"', 'W/"a"', SAME, 'a']) expect(rangeCounts({ 'if-range': other }, '"a"')).toBe(false);
});
