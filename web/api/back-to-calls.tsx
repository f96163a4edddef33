import type { JSX } from 'preact';
import { hrefOf } from '../route.js';
import { Icon } from '../ui/icon.js';

/** Shown where list and call have no room beside each other. */
export function BackToCalls(): JSX.Element {
  return (
    <a class="back-to-calls" href={hrefOf('api')}>
      <Icon name="back" />
      All calls
    </a>
  );
}
