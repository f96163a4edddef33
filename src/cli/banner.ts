import { shellWord, type Token } from './token.js';

/**
 * What `serve` prints when it is ready: its address, and lines to paste.
 * @param dashboard whether there is one to open in a browser
 */
export function banner(url: string, socket: string | null, token: Token | null, dashboard: boolean): string {
  const via = socket === null ? '' : ` --unix-socket ${shellWord(socket)}`;
  const auth = token === null ? '' : ` -H "Authorization: Bearer ${token.in_shell}"`;
  const curl = (rest: string) => `  curl -sS${via}${auth} ${rest}`;
  const near = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const at = (path: string) => shellWord(near + path);
  const json = `-H 'Content-Type: application/json'`;
  return [
    `exec-gateway listens on ${socket === null ? url : `unix:${socket}`}`,
    ...(near === url
      ? []
      : [`(every address of this machine; from another one write its address in place of ${new URL(near).hostname} below)`]),
    '',
    // A browser sends nobody what comes after the #.
    ...(dashboard && socket === null
      ? ['# see and drive everything in a browser', `  ${near}/${token?.made ? `#token=${token.token}` : ''}`]
      : []),
    '# run a command and wait for it',
    curl(`${json} -d '{"argv":["uname","-a"]}' ${at('/run')}`),
    '# start one, under a name of your own',
    curl(`${json} -X PUT -d '{"argv":["sh","-c","for i in 1 2 3 4 5; do date; sleep 1; done"]}' ${at('/processes/demo')}`),
    '# follow it live',
    curl(`-N ${at('/processes/demo/output?follow=true')}`),
    '# end it',
    curl(`-X DELETE ${at('/processes/demo')}`),
    '',
    '',
  ].join('\n');
}
