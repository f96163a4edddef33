import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { tellFailure } from '../ui/notices.js';
import type * as page_module from './api-page.js';

const page = signal<typeof page_module | null>(null);

/** The API reference, which comes when it is first asked for. */
export function LazyApiPage({ id }: { id: string }): JSX.Element {
  useEffect(() => {
    if (page.value !== null) return;
    import('./api-page.js').then((loaded) => {
      page.value = loaded;
    }, tellFailure);
  }, []);
  if (page.value === null) return <p class="empty">Loading…</p>;
  const { ApiPage } = page.value;
  return <ApiPage id={id} />;
}
