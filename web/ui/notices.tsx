import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { GatewayError } from '../../src/client/index.js';
import { Icon } from './icon.js';

interface Notice {
  id: number;
  text: string;
  failed: boolean;
}

/** How long good news stays, in milliseconds. Bad news stays until it is put away. */
const GOOD_NEWS_MS = 5_000;

const MAX_NOTICES = 4;

const notices = signal<Notice[]>([]);
let last_id = 0;

/** Tells that something was done. */
export function tell(text: string): void {
  setTimeout(putAway, GOOD_NEWS_MS, show(text, false));
}

/** Tells that something failed, and why. */
export function tellFailure(error: unknown): void {
  show(failureText(error), true);
}

/** What to say of an error. */
export const failureText = (error: unknown): string =>
  error instanceof GatewayError || error instanceof Error ? error.message : String(error);

/** What was told lately. */
export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, failed }) => (
        <div key={id} class={failed ? 'notice failed' : 'notice'}>
          <span>{text}</span>
          <button type="button" class="quiet small" aria-label="Put away" onClick={() => putAway(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}

function show(text: string, failed: boolean): number {
  const id = ++last_id;
  notices.value = [...notices.value, { id, text, failed }].slice(-MAX_NOTICES);
  return id;
}

function putAway(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
