import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './proc.js';

const PLACES = [process.env.NGINX_PATH, '/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx'];

/** Where nginx is on this machine, or null. Says so aloud when there is none: what needs a proxy is skipped then. */
export function findNginx(): string | null {
  const path = PLACES.find((place) => place && existsSync(place));
  if (path) return path;
  process.stderr.write(
    '\n*** No nginx here: streams are NOT tested through a proxy. Install it (apt-get install nginx) or set NGINX_PATH. ***\n\n',
  );
  return null;
}

/** A reverse proxy in front of one server, in the foreground and with a directory of its own. */
export class Nginx implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #dir: string;

  private constructor(child: ChildProcess, url: string, dir: string) {
    this.#child = child;
    this.url = url;
    this.#dir = dir;
  }

  /**
   * Resolves when it takes connections.
   * @param upstream the URL of the server behind
   * @param directives of its `location`, besides `proxy_pass`; all else is as nginx has it by default
   * @param above directives of its `http`
   * @param prefix below which the server is, with a slash at both ends; it is taken away
   */
  static async start(upstream: string, directives: string[] = [], above: string[] = [], prefix = '/'): Promise<Nginx> {
    const dir = mkdtempSync(join(tmpdir(), 'nginx-'));
    const port = await freePort();
    writeFileSync(join(dir, 'nginx.conf'), configuration(dir, port, location(prefix, upstream, directives), above));
    const child = spawn(findNginx() as string, ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.on('data', (text: Buffer) => {
      said += text;
    });
    await until('nginx takes connections', () => {
      if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}: ${said}`);
      return answers(port);
    });
    return new Nginx(child, `http://127.0.0.1:${port}${prefix.slice(0, -1)}`, dir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await ended;
    rmSync(this.#dir, { recursive: true });
  }
}

function configuration(dir: string, port: number, place: string, above: string[]): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`);
  return `
daemon off;
master_process off;
pid ${dir}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${places.join('\n  ')}
  gzip on;
  ${above.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${place}
  }
}
`;
}

function location(prefix: string, upstream: string, directives: string[]): string {
  const target = prefix === '/' ? upstream : `${upstream}/`;
  return `location ${prefix} {\n      proxy_pass ${target};\n      ${directives.join('\n      ')}\n    }`;
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
