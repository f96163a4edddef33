import { Type } from '@sinclair/typebox';
import type { ErrorCode } from '../../src/protocol/error.js';
import { Session } from '../../src/protocol/session.js';
import { CODES, type Operation, type Reply } from './operation.js';

const SESSION = { csrf_token: 'y0c1mDqWb7gUo5Jw3n8xKf2RzTtL6eQvHsAaPiNdGkE', expires_at: '2026-01-15T21:30:00.000Z' };

const signedIn = (description: string, headers: string[]): Reply => ({
  description,
  content: { 'application/json': { schema: Session, example: SESSION } },
  headers,
});

/** What a call can meet that lets in whoever calls. */
const OPEN: ErrorCode[] = ['internal', 'shutting_down'];

const content = (type: string, example: string): Pick<Reply, 'content' | 'headers'> => ({
  content: { [type]: { schema: Type.String(), example } },
  headers: ['ETag', 'Vary'],
});

const UNCHANGED: Reply = { description: 'It is what If-None-Match names.', headers: ['ETag', 'Vary'] };

/** The operations of the dashboard, by method and path. */
export const WEB_OPERATIONS: Record<string, Operation> = {
  'POST /session': {
    operationId: 'signIn',
    tag: 'Gateway',
    summary: 'Sign a browser in',
    description:
      'Takes the token once and answers with a cookie that stands for it in every call of this gateway, EventSource and WebSocket included. No script can read the cookie, and the token is not in it. With it, requests have to come from a page of this gateway (by Sec-Fetch-Site, or Origin and Host; else 403 not_same_origin), and those with a method other than GET and HEAD carry X-CSRF-Token (else 403 invalid_csrf_token). Calls with the token need none of this. A gateway without a token takes any.',
    example: { token: 'TOKEN' },
    open: true,
    replies: { 200: signedIn('Signed in.', ['Set-Cookie']) },
    errors: ['invalid_request', 'unauthorized', ...CODES.BODY, ...OPEN],
  },
  'GET /session': {
    operationId: 'getSession',
    tag: 'Gateway',
    summary: 'Look at the session',
    description: 'Of the cookie that the request carries; 401 without one. A gateway without a token always has one.',
    replies: { 200: signedIn('The session.', []) },
    errors: ['invalid_request'],
  },
  'DELETE /session': {
    operationId: 'signOut',
    tag: 'Gateway',
    summary: 'Sign out',
    description:
      'The cookie is taken back, and the session good no longer at this gateway, until it is restarted. What was opened with it goes on.',
    replies: { 204: { description: 'Signed out.', headers: ['Set-Cookie'] } },
    errors: ['invalid_request', ...CODES.BODY],
  },
  'GET /': {
    operationId: 'getDashboard',
    tag: 'Gateway',
    summary: 'The dashboard',
    description:
      'A page for browsers, which name text/html in Accept; it needs no token. Others are answered as at an address that is not there, and so is everyone where the dashboard was not built.',
    open: true,
    replies: { 200: { description: 'The page.', ...content('text/html', '<!doctype html>') }, 304: UNCHANGED },
    errors: ['invalid_request', 'unauthorized', 'not_same_origin', 'not_found', ...OPEN],
  },
  'GET /assets/{file}': {
    operationId: 'getDashboardFile',
    tag: 'Gateway',
    summary: 'A file of the dashboard',
    description: 'What the page loads, by names that change with their content; it needs no token.',
    open: true,
    replies: { 200: { description: 'The file.', ...content('*/*', 'export {};') }, 304: UNCHANGED },
    errors: ['invalid_request', 'unauthorized', 'not_same_origin', 'not_found', 'uri_too_long', ...OPEN],
  },
};
