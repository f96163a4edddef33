import { describe } from 'vitest';
import { place } from './use-codex.js';

place.behind_another = true;

// The same cases once more: what a client sees of a gateway in front of another is what it sees of that one.
describe('a gateway in front of another: recorded messages', async () => void (await import('./golden.test.js')));
describe('a gateway in front of another: processes', async () => void (await import('./processes.test.js')));
describe('a gateway in front of another: files', async () => void (await import('./files.test.js')));
describe('a gateway in front of another: access', async () => void (await import('./access.test.js')));
