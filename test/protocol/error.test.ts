import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/protocol/index.js';
import { tableRows } from './doc-table.js';

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('docs/errors.md', () => {
  const rows = tableRows('errors.md');

  test('has one row for every code of the table, in its order, and none besides', () => {
    expect(rows.map(([code]) => code)).toEqual(codes.map((code) => `\`${code}\``));
  });

  test.each(rows)('%s: status and meaning are those of the table', (cell = '', status, meaning, todo) => {
    const [expected_status, title] = ERRORS[cell.slice(1, -1) as ErrorCode];
    expect([status, meaning]).toEqual([String(expected_status), title]);
    expect(todo?.length).toBeGreaterThan(10);
  });
});

describe('GatewayError', () => {
  test('its problem document revives as the same error, through JSON', () => {
    const fields = fc.record({ field: fc.string(), limit: fc.nat(), accepted_bytes: fc.nat() }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.string(), fields, (code, detail, extra) => {
        const problem = JSON.parse(JSON.stringify(new GatewayError(code, detail, extra).toProblem()));
        expect(problem).toMatchObject({
          type: `urn:exec-gateway:error:${code}`,
          code,
          detail,
          status: ERRORS[code][0],
          title: ERRORS[code][1],
        });
        const revived = GatewayError.fromProblem(problem);
        expect(revived).toBeInstanceOf(GatewayError);
        expect([revived?.code, revived?.message, revived?.status, { ...revived?.fields }]).toEqual([
          code,
          detail,
          ERRORS[code][0],
          { ...extra },
        ]);
      }),
    );
  });

  test.each([null, 1, 'text', [], {}, { code: 'not_found' }, { code: 'toString', detail: 'x' }, { code: 'unknown', detail: 'x' }])(
    'what is no problem of ours is not revived: %j',
    (value) => {
      expect(GatewayError.fromProblem(value)).toBeNull();
    },
  );

  test('every code is snake_case with an error status', () => {
    for (const code of codes) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(ERRORS[code][0]).toBeGreaterThanOrEqual(400);
      expect(ERRORS[code][0]).toBeLessThan(600);
    }
  });
});
