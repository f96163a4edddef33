import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { DirectoryEntry } from '../../src/client/index.js';
import { countText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { tellFailure } from '../ui/notices.js';
import { fileDialog } from './file-dialogs.js';
import { type FileQuery, queryFiles } from './file-query.js';
import { FileTable } from './file-table.js';
import { filesChanged } from './files-changed.js';
import type { Place } from './place.js';
import { uploadFiles } from './uploads.js';

/** The order stays from one directory to the next, what was searched does not. */
const query = signal<FileQuery>({ search: '', sort: 'name', descending: false });

/** What is in a directory; files dropped on it are uploaded. */
export function DirectoryView({ place, entries }: { place: Place; entries: DirectoryEntry[] }): JSX.Element {
  const [search, setSearch] = useState('');
  const [dropping, setDropping] = useState(false);
  const shown = queryFiles(entries, { ...query.value, search });
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setDropping(true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    uploadFiles(place, droppedFiles(event));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button above does the same by keyboard.
    <div class={dropping ? 'directory dropping' : 'directory'} onDragOver={over} onDragLeave={() => setDropping(false)} onDrop={drop}>
      <Toolbar place={place} search={search} onSearch={setSearch} count={entries.length} />
      {shown.length > 0 ? (
        <FileTable place={place} entries={shown} query={query} />
      ) : (
        <div class="empty">
          <Icon name="folder" />
          <p>{entries.length > 0 ? 'No name matches.' : 'Nothing is here. Drop files to upload them.'}</p>
        </div>
      )}
    </div>
  );
}

interface ToolbarProps {
  place: Place;
  search: string;
  onSearch: (search: string) => void;
  count: number;
}

function Toolbar({ place, search, onSearch, count }: ToolbarProps): JSX.Element {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <div class="toolbar">
      <label class="search-field">
        <Icon name="search" />
        <span class="hidden">Search names</span>
        <input
          type="search"
          placeholder={`Search ${countText(count)} names`}
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
        />
      </label>
      <span class="spring" />
      <button type="button" class="quiet small" aria-label="Look again" title="Look again" onClick={filesChanged}>
        <Icon name="again" />
      </button>
      <button type="button" onClick={() => (fileDialog.value = { kind: 'folder', place })}>
        <Icon name="plus" />
        New folder
      </button>
      <button type="button" class="primary" onClick={() => chooser.current?.click()}>
        <Icon name="upload" />
        Upload
      </button>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          uploadFiles(place, currentTarget.files ?? []);
          currentTarget.value = '';
        }}
      />
    </div>
  );
}

function droppedFiles({ dataTransfer }: DragEvent): File[] {
  const items = [...(dataTransfer?.items ?? [])];
  if (items.some((item) => item.webkitGetAsEntry()?.isDirectory)) tellFailure('Folders cannot be dropped here: drop the files in them.');
  return items.filter((item) => item.kind === 'file' && !item.webkitGetAsEntry()?.isDirectory).flatMap((item) => item.getAsFile() ?? []);
}
