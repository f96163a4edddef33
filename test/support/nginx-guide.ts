import { readFileSync } from 'node:fs';

const LINES = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8').split('\n');

/** The directives that the operations guide gives for a location of nginx, without `proxy_pass`. */
function directives(location: string): string[] {
  const start = LINES.indexOf(`location ${location} {`);
  const end = LINES.indexOf('}', start);
  return LINES.slice(start + 1, end).filter((line) => !line.includes('proxy_pass '));
}

/** What the operations guide says of nginx. */
export const NGINX_GUIDE = {
  directives: directives('/'),
  /** Those besides, where the gateway is below a prefix. */
  below_prefix: directives('/gate/'),
  /** In `http`. */
  above: LINES.flatMap((line) => /# in http: (.+)/.exec(line)?.[1] ?? []),
};
