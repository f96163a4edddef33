import { expect, test } from 'vitest';
import { preferredType } from '../../src/plugins/accept.js';

const OFFERS = ['application/json', 'application/octet-stream', 'text/plain'] as const;

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/plain', 'text/plain'],
  ['TEXT/Plain', 'text/plain'],
  ['text/*', 'text/plain'],
  ['text/plain;q=0.5, application/octet-stream', 'application/octet-stream'],
  ['text/plain, */*', 'application/json'],
  ['text/plain, */*;q=0.9', 'text/plain'],
  ['application/json;q=0, */*', 'application/octet-stream'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
  ['image/png', null],
  ['text/plain;q=0', null],
  [';,q=', null],
])('Accept %j gives %j', (accept, type) => {
  expect(preferredType(accept, OFFERS)).toBe(type);
});
