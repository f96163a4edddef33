import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { CodexClient } from '../support/codex-client.js';
import type { GatewayServerOptions } from '../support/gateway-server.js';
import { useGateway, type WireGateway } from '../wire/use-gateway.js';

/** A gateway, a directory, and clients of `/exec-server` with the gateway's token. */
export interface Codex {
  gateway: WireGateway;
  /** A path in the directory. */
  path(name?: string): string;
  /** The same as a URI. */
  uri(name?: string): string;
  /** A client that is past the first two messages. */
  ready(resumeSessionId?: string): Promise<CodexClient>;
  /** A client that said nothing yet. */
  open(): Promise<CodexClient>;
}

/** Where clients connect: to the gateway that holds the processes, or to one in front of it. */
export const place = { behind_another: false };

export function useCodex(options: (scratch: string) => GatewayServerOptions = () => ({})): Codex {
  const scratch = mkdtempSync(join(tmpdir(), 'codex-'));
  const gateway = place.behind_another ? useFront(() => options(scratch)) : useGateway(() => options(scratch));
  const headers = () => ({ authorization: `Bearer ${gateway.server.token}` });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const path = (name = '') => (name === '' ? scratch : join(scratch, name));
  return {
    gateway,
    path,
    uri: (name) => `file://${path(name)}`,
    ready: (resume) => CodexClient.ready(gateway.server.url, headers(), resume),
    open: () => CodexClient.open(gateway.server.url, headers()),
  };
}

/** A gateway in front of one with these options. */
function useFront(options: () => GatewayServerOptions): WireGateway {
  const upstream = useGateway(() => {
    const { flags = [], ...rest } = options();
    return { ...rest, token: null, flags: ['--no-auth', ...flags] };
  });
  return useGateway(() => ({ flags: ['--upstream', upstream.server.url] }));
}
