import { signal } from '@preact/signals';

/** Counts what this page changed: what is shown is asked for anew. */
export const fileChanges = signal(0);

export function filesChanged(): void {
  fileChanges.value++;
}
