import { isIP } from 'node:net';
import { GatewayError } from '../protocol/error.js';
import { isLoopback } from '../protocol/loopback.js';
import type { GatewayApp } from './gateway-app.js';
import { headerCount } from './raw-headers.js';

/** What decides whether a Host header names this gateway. */
export interface HostRule {
  /** The address listened on; null for a unix socket, where every Host passes. */
  host: string | null;
  /** The port that is bound. */
  port: () => number;
  /** Further names: `name` at any port, or `name:port`. */
  allow_hosts: string[];
}

/** Refuses a request whose Host names another site: a page that rebinds its DNS name to this machine must get nothing. */
export function addHostCheck(app: GatewayApp, rule: HostRule): void {
  if (rule.host === null) return;
  const isOurs = hostMatcher(rule.host, rule);
  app.addHook('onRequest', (request, _reply, done) => {
    const host = request.raw.headers.host;
    if (host !== undefined && isOurs(host.toLowerCase()) && headerCount(request.raw.rawHeaders, 'host') === 1) return done();
    done(host !== undefined && isOtherPort(host, rule.host) ? otherPort(host, rule.port()) : refusal(host));
  });
}

/** A name or an address, and perhaps a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]\s/@]+)(?::(\d{1,5}))?$/i;

/** Answers whether a lower-case Host header is one of ours. */
function hostMatcher(listen: string, { port, allow_hosts }: Omit<HostRule, 'host'>): (host: string) => boolean {
  const allowed = new Set(allow_hosts.map((entry) => entry.toLowerCase()));
  const loopback = isLoopback(listen);
  return (host) => {
    const parts = HOST.exec(host);
    if (parts === null) return false;
    const name = parts[1] as string;
    if (allowed.has(name) || allowed.has(host)) return true;
    if (!loopback) return name === 'localhost' || isIP(unbracketed(name)) !== 0;
    return isLoopback(name) && Number(parts[2] ?? 80) === port();
  };
}

function unbracketed(name: string): string {
  return name.startsWith('[') ? name.slice(1, -1) : name;
}

/** Whether a Host header would be ours at another port, as it comes through a port forward. */
const isOtherPort = (host: string, listen: string | null): boolean =>
  listen !== null && isLoopback(listen) && isLoopback(HOST.exec(host)?.[1] ?? '');

function otherPort(host: string, port: number): GatewayError {
  const detail = `The Host header ${JSON.stringify(host)} has another port than this gateway, which listens on ${port}`;
  const advice = `forward that port under its own number, or allow the other with --allow-host ${host}`;
  return new GatewayError('host_not_allowed', `${detail}: ${advice}.`);
}

function refusal(host: string | undefined): GatewayError {
  const name = host === undefined ? 'The request has no Host header' : `The Host header ${JSON.stringify(host.slice(0, 100))}`;
  const why = host === undefined ? ': send one.' : ' is not one of this gateway: allow it with --allow-host NAME when it should be.';
  return new GatewayError('host_not_allowed', name + why);
}
