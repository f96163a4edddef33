import { shellWord, type Token } from './token.js';

/** What `serve` prints when it is ready: its address, and lines to paste. */
export function banner(url: string, socket: string | null, token: Token | null): string {
  const via = socket === null ? '' : ` --unix-socket ${shellWord(socket)}`;
  const auth = token === null ? '' : ` -H "Authorization: Bearer ${token.in_shell}"`;
  const curl = (rest: string) => `  curl -sS${via}${auth} ${rest}`;
  const json = `-H 'Content-Type: application/json'`;
  return [
    `exec-gateway listens on ${socket === null ? url : `unix:${socket}`}`,
    '',
    '# run a command and wait for it',
    curl(`${json} -d '{"argv":["uname","-a"]}' ${url}/run`),
    '# start one, under a name of your own',
    curl(`${json} -X PUT -d '{"argv":["sh","-c","for i in 1 2 3 4 5; do date; sleep 1; done"]}' ${url}/processes/clock`),
    '# follow it live',
    curl(`-N '${url}/processes/clock/output?follow=true'`),
    '# end it',
    curl(`-X DELETE ${url}/processes/clock`),
    '',
    '',
  ].join('\n');
}
