import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EdgeVM } from '@edge-runtime/vm';
import * as nodeClient from '../../src/client/index.js';
import { findChromium, launchChromium } from './chromium.js';
import { bundleClient } from './client-bundle.js';

/** What the client's entry exports. */
export type Client = typeof nodeClient;

/** Code that runs where the client is tested. It may use its arguments and nothing else of its file; the answer is JSON. */
type Scenario<Args, Result> = (client: Client, args: Args) => Promise<Result>;

/** A place where the client runs. */
export interface ClientRuntime {
  run<Args, Result>(scenario: Scenario<Args, Result>, args: Args): Promise<Result>;
  /** The origin of its requests; null when they carry none. */
  origin: string | null;
  close(): Promise<void>;
}

export type RuntimeName = 'Node' | 'Chromium' | 'an edge isolate';

/** The places this machine has. */
export const RUNTIMES: RuntimeName[] = ['Node', 'an edge isolate', ...(findChromium() ? (['Chromium'] as const) : [])];

export function openRuntime(name: RuntimeName): Promise<ClientRuntime> {
  if (name === 'Chromium') return openChromium();
  return name === 'Node' ? Promise.resolve(node) : openEdge();
}

const node: ClientRuntime = {
  run: async (scenario, args) => JSON.parse(JSON.stringify(await scenario(nodeClient, args))),
  origin: null,
  close: async () => {},
};

const source = <Args, Result>(scenario: Scenario<Args, Result>, args: Args) =>
  `(${scenario})(ExecGateway, ${JSON.stringify(args)}).then((result) => JSON.stringify(result))`;

async function openEdge(): Promise<ClientRuntime> {
  const vm = new EdgeVM();
  vm.evaluate((await bundleClient()).code);
  return {
    run: async (scenario, args) => JSON.parse(await vm.evaluate(source(scenario, args))),
    origin: null,
    close: async () => {},
  };
}

async function openChromium(): Promise<ClientRuntime> {
  const server = await servePage();
  const browser = await launchChromium(findChromium()!);
  const page = await browser.newPage();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await page.goto(origin);
  await page.addScriptTag({ content: (await bundleClient()).code });
  return {
    run: async (scenario, args) => JSON.parse(await page.evaluate(source(scenario, args))),
    origin,
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function servePage(): Promise<Server> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
