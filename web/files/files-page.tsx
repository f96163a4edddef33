import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DirectoryEntry } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { failureText } from '../ui/notices.js';
import { DirectoryView } from './directory-view.js';
import { FileDialog } from './file-dialogs.js';
import { FileView } from './file-view.js';
import { fileChanges } from './files-changed.js';
import { PathBar } from './path-bar.js';
import { filePath, type Place } from './place.js';
import { UploadList } from './upload-list.js';

/** What stands at a place. */
type Found = { kind: 'directory'; entries: DirectoryEntry[] } | { kind: 'file' } | { kind: 'failure'; why: string };

/** As few calls as there can be for a large directory. */
const PAGE = 10_000;

/** The files of the gateway: a directory, or one file. */
export function FilesPage({ place }: { place: Place }): JSX.Element {
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    const life = new AbortController();
    const look = async () => {
      const next = await find(place, life.signal).catch((error: unknown): Found => ({ kind: 'failure', why: failureText(error) }));
      if (!life.signal.aborted) setFound(next);
    };
    void look();
    return () => life.abort();
  }, [fileChanges.value]);
  return (
    <section class="page files-page" aria-labelledby="files-title">
      <h1 id="files-title" class="hidden">
        Files
      </h1>
      <PathBar place={place} />
      <UploadList />
      <Content place={place} found={found} />
      <FileDialog />
    </section>
  );
}

function Content({ place, found }: { place: Place; found: Found | null }): JSX.Element {
  switch (found?.kind) {
    case 'directory':
      return <DirectoryView place={place} entries={found.entries} />;
    case 'file':
      return <FileView place={place} />;
    case 'failure':
      return (
        <p class="failure" role="alert">
          {found.why}
        </p>
      );
    default:
      return <p class="empty">Loading…</p>;
  }
}

async function find(place: Place, signal: AbortSignal): Promise<Found> {
  const path = filePath(place);
  const { type } = await gateway.files.metadata(path, { follow_symlinks: true, signal });
  if (type === 'file') return { kind: 'file' };
  if (type !== 'directory') return { kind: 'failure', why: `This is a ${type}: it has no content to show.` };
  const entries: DirectoryEntry[] = [];
  for await (const entry of gateway.files.entries(path, { limit: PAGE, signal })) entries.push(entry);
  return { kind: 'directory', entries };
}
