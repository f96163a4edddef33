import { expect, test } from 'vitest';
import { isLoopback } from '../../src/protocol/loopback.js';

test.each(['localhost', 'LOCALHOST', '::1', '[::1]', '127.0.0.1', '127.1.2.3', '127.255.255.255'])('%s is loopback', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  '127.999.1.1',
  '127.0.0.256',
  '127.0.1',
  '127.0.0.1.5',
  '127.0.0.01',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '[::1',
  'localhost.example',
  '',
])('%j is not', (host) => {
  expect(isLoopback(host)).toBe(false);
});
