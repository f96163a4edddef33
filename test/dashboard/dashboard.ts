import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { until } from '../support/proc.js';

export const chromium = findChromium();

/** What a page is opened with, besides its address. */
interface OpenOptions {
  /** Signs in with it; null opens the page as it is. */
  token: string | null;
  /** A page of the same browser profile. Default: of a new one. */
  beside?: Dashboard;
  viewport?: { width: number; height: number };
}

/** Longest wait for something on a page, in milliseconds: other work on the machine may hold everything up. */
const PATIENCE_MS = 50_000;

/** One browser for a file. After each test its pages must have had nothing to complain of. */
export function useDashboards(): Dashboards {
  const dashboards = new Dashboards();
  beforeAll(() => dashboards.launch());
  afterEach(() => dashboards.clear());
  afterAll(() => dashboards.close());
  return dashboards;
}

class Dashboards {
  #browser: Browser | null = null;
  #open: Dashboard[] = [];

  async launch(): Promise<void> {
    if (chromium !== null) this.#browser = await launchChromium(chromium);
  }

  /** Opens the dashboard of a gateway; signed in, it shows the processes. */
  async open(url: string, options: OpenOptions): Promise<Dashboard> {
    const { token, beside, viewport = { width: 1280, height: 800 } } = options;
    const context = beside?.context ?? (await (this.#browser as Browser).newContext({ viewport, reducedMotion: 'reduce' }));
    context.setDefaultTimeout(PATIENCE_MS);
    const dashboard = new Dashboard(context, await context.newPage(), url, token);
    this.#open.push(dashboard);
    await dashboard.page.goto(`${url}/${token === null ? '' : `#token=${token}`}`);
    if (token !== null) await dashboard.page.getByRole('heading', { name: 'Processes' }).waitFor();
    return dashboard;
  }

  async clear(): Promise<void> {
    const open = this.#open.splice(0);
    const traces = await Promise.all(open.map((dashboard) => dashboard.traces()));
    await Promise.all([...new Set(open.map(({ context }) => context))].map((context) => context.close()));
    open.forEach((dashboard, index) => {
      expect(dashboard.complaints, 'what the page complained of').toEqual([]);
      expect(dashboard.strangers, 'requests to elsewhere').toEqual([]);
      expect(traces[index], 'places that hold the token').toEqual([]);
    });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

/** A page of the dashboard, and all it complained of. */
export class Dashboard {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #url: string;
  readonly #token: string | null;
  readonly #addresses: string[] = [];
  readonly #complaints: string[] = [];
  readonly #forgiven: RegExp[] = [];
  /** Requests to other servers. */
  readonly strangers: string[] = [];

  constructor(context: BrowserContext, page: Page, url: string, token: string | null) {
    this.context = context;
    this.page = page;
    this.#url = url;
    this.#token = token;
    page.on('console', (message) => {
      if (message.type() !== 'log') this.#complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.#complaints.push(String(error)));
    page.on('dialog', (dialog) => {
      this.#complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const look = (address: string) => {
      this.#addresses.push(address);
      if (!/^(data|blob):/.test(address) && new URL(address).host !== new URL(url).host) this.strangers.push(address);
    };
    page.on('request', (request) => look(request.url()));
    page.on('websocket', (socket) => look(socket.url()));
  }

  /** Forgives complaints of one kind, before and from now on: of a line that a test cuts. */
  forgive(kind: RegExp): void {
    this.#forgiven.push(kind);
  }

  /** Errors and warnings of the console, and errors nobody caught. */
  get complaints(): string[] {
    return this.#complaints.filter((complaint) => !this.#forgiven.some((kind) => kind.test(complaint)));
  }

  /** Opens the page of a process. */
  async show(process_id: string): Promise<void> {
    await this.page.goto(`${this.#url}/#/processes/${process_id}`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
  }

  /** The rows of the table of processes. */
  get rows(): Locator {
    return this.page.locator('.virtual-space .process-row');
  }

  /** The lines of output in sight. */
  lines(): Promise<string[]> {
    return this.page.locator('.output-row').evaluateAll((rows) => rows.map((row) => row.textContent ?? ''));
  }

  /** Waits until what is in sight of the output ends so. */
  async untilOutput(...end: string[]): Promise<void> {
    await until(
      `the output ends with ${JSON.stringify(end)}`,
      async () => JSON.stringify((await this.lines()).slice(-end.length)) === JSON.stringify(end),
      PATIENCE_MS,
    );
  }

  /** What stands on the screen of the terminal. */
  screen(): Promise<string> {
    return this.page.locator('.xterm-rows > div').evaluateAll((rows) => rows.map((row) => row.textContent?.trimEnd() ?? '').join('\n'));
  }

  /** Waits until the terminal shows something. */
  untilScreen(text: string | RegExp): Promise<void> {
    const shows = (screen: string) => (typeof text === 'string' ? screen.includes(text) : text.test(screen));
    return until(`the terminal shows ${text}`, async () => shows(await this.screen()), PATIENCE_MS);
  }

  /** Where the token is that it should not be: addresses and what the browser stores. */
  async traces(): Promise<string[]> {
    const token = this.#token;
    if (token === null || this.page.isClosed()) return [];
    const stored: string[] = await this.page.evaluate(() => [
      document.cookie,
      document.documentElement.outerHTML,
      ...Object.entries(localStorage).flat(),
      ...Object.entries(sessionStorage).flat(),
    ]);
    return [this.page.url(), ...this.#addresses, ...stored].filter((text) => text.includes(token));
  }
}
