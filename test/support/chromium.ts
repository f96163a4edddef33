import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell first: the same browser without what windows need, at half the work. */
const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];

/** Where Chromium is on this machine, or null. Says so aloud when there is none: the browser's half of the tests is left out then. */
export function findChromium(): string | null {
  const path = PLACES.find((place) => place && existsSync(place));
  if (path) return path;
  process.stderr.write(
    '\n*** No Chromium here: the client is NOT tested in a browser. Install it (apt-get install chromium) or set CHROMIUM_PATH. ***\n\n',
  );
  return null;
}

/** A browser without a window. */
export const launchChromium = (executablePath: string): Promise<Browser> => chromium.launch({ executablePath, args: ARGS });
