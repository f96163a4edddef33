import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import fc from 'fast-check';
import { fastify } from 'fastify';
import { describe, expect, test } from 'vitest';
import { explain } from '../../src/plugins/explain.js';
import type { GatewayApp } from '../../src/plugins/gateway-app.js';
import { cursorValue, queryValues } from '../../src/plugins/query-values.js';
import { addValidation } from '../../src/plugins/validation.js';
import type { GatewayError } from '../../src/protocol/error.js';
import { RunRequest } from '../../src/protocol/run.js';
import { Count, Strict } from '../../src/protocol/schema.js';
import { ListParameters } from '../../src/routes/processes.js';

const FLAGS = Strict({ follow: Type.Boolean(), wait_ms: Count('Time.', { maximum: 9 }) });

// Teaches TypeBox the words of a fixed set.
addValidation(fastify() as unknown as GatewayApp);
const check = TypeCompiler.Compile(RunRequest);

function bodyFault(body: unknown): GatewayError {
  return explain(check.Errors(body).First()!);
}

describe('a refused body is told by its field, what belongs there and what came', () => {
  test.each([
    [{}, 'argv is missing: it must be an array of strings, with at least 1, at most 65536 items.'],
    [{ argv: [] }, 'argv must be an array of strings, with at least 1, at most 65536 items; got an array of 0.'],
    [{ argv: 'ls' }, 'argv must be an array of strings, with at least 1, at most 65536 items; got "ls".'],
    [{ argv: ['a', null] }, 'argv[1] must be a string; got null.'],
    [{ argv: ['a'], timeout_ms: 0 }, 'timeout_ms must be an integer from 1 to 2147483647 (milliseconds); got 0.'],
    [{ argv: ['a'], tty: 'yes' }, 'tty must be true or false, or an object with cols, rows, term; got "yes".'],
    [{ argv: ['a'], tty: { cols: 0 } }, 'tty.cols must be an integer from 1 to 65535; got 0.'],
    [{ argv: ['a'], tty: { width: 1 } }, 'tty.width is not known here; known are: cols, rows, term.'],
    [{ argv: ['a'], env_policy: { inherit: 'some' } }, 'env_policy.inherit must be one of "core", "none", "all"; got "some".'],
    [{ argv: ['a'], env_policy: { exclude: [''] } }, 'env_policy.exclude[0] must be a string of 1 to 256 characters; got "".'],
    [{ argv: ['a'], env: { A: 1 } }, 'env.A must be a string; got 1.'],
    [{ argv: ['a'], labels: { 'a=b': 'c' } }, 'labels.a=b is not a name allowed here: it must match ^[^=\\u0000-\\u001f]{1,128}$.'],
    [
      { argv: ['a'], cwd: 'x'.repeat(5), retain_bytes: 1e9 },
      'retain_bytes must be an integer from 1 to 268435456 (bytes); got 1000000000.',
    ],
    [[], 'the body must be an object with argv, '],
  ])('%j', (body, detail) => {
    expect(bodyFault(body).message).toContain(detail);
  });

  test('whatever comes, the message is short', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        if (check.Check(body)) return;
        expect(bodyFault(body).message.length).toBeLessThan(800);
      }),
    );
  });
});

describe('query parameters', () => {
  test('are taken by their schema', () => {
    expect({ ...queryValues(ListParameters, { limit: '10', label: 'a=b', state: 'running' }) }).toEqual({
      limit: 10,
      label: ['a=b'],
      state: 'running',
    });
  });

  test.each([
    [{ limit: ['1', '2'] }, 'limit is given 2 times: give it once.'],
    [{ limit: '1e1' }, 'limit must be an integer from 1 to 1000'],
    [{ token: 'x' }, '"token" is not known here; known are: state, label, limit, cursor, usage.'],
    [{ constructor: 'x' }, '"constructor" is not known here'],
  ])('%j is refused', (query, detail) => {
    expect(() => queryValues(ListParameters, query as Record<string, string>)).toThrow(detail);
  });

  test('only a number is asked for in digits', () => {
    const of = (query: Record<string, string>) => () => queryValues(FLAGS, query);
    expect(of({ follow: '1' })).toThrow('follow must be true or false; got "1".');
    expect(of({ wait_ms: 'x' })).toThrow('wait_ms must be an integer from 0 to 9 (milliseconds), in decimal digits; got "x".');
  });

  test('B64 a cursor is plain decimal digits that a number holds exactly', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seq) => {
        expect(cursorValue('after_seq', String(seq))).toBe(seq);
      }),
    );
    for (const text of ['-1', '1.5', '1e3', '', '01', '+1', ' 1', '9007199254740993', '٣', '0x1']) {
      expect(() => cursorValue('after_seq', text)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
    }
  });
});
