import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { DirectoryEntry } from '../../src/client/index.js';
import { now } from '../clock.js';
import { bytesText, momentText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { SortHeads } from '../ui/sort-heads.js';
import { VirtualList } from '../ui/virtual-list.js';
import { downloadHref } from './download.js';
import { fileDialog } from './file-dialogs.js';
import type { FileQuery, FileSort } from './file-query.js';
import { childOf, type Place, placeHref } from './place.js';

const COLUMNS: [FileSort, string][] = [
  ['name', 'Name'],
  ['size', 'Size'],
  ['modified', 'Modified'],
];

/** Height of a row, in pixels, as in files.css. */
const ROW_PX = 44;

interface FileTableProps {
  place: Place;
  entries: DirectoryEntry[];
  query: Signal<FileQuery>;
}

/** The entries of a directory in rows; only those in sight are there. */
export function FileTable({ place, entries, query }: FileTableProps): JSX.Element {
  return (
    <div class="file-table" role="table" aria-label="Files" aria-rowcount={entries.length + 1}>
      <VirtualList
        role="rowgroup"
        head={<SortHeads row="file-row" columns={COLUMNS} query={query} ascending={['name']} />}
        count={entries.length}
        row_height={ROW_PX}
        row={(index, top) => {
          const entry = entries[index] as DirectoryEntry;
          return <Row key={entry.name_base64 ?? entry.name} place={childOf(place, entry)} entry={entry} index={index} top={top} />;
        }}
      />
    </div>
  );
}

interface RowProps {
  place: Place;
  entry: DirectoryEntry;
  index: number;
  top: number;
}

function Row({ place, entry, index, top }: RowProps): JSX.Element {
  const { name, type, metadata } = entry;
  return (
    <div class="file-row" role="row" aria-rowindex={index + 2} style={{ top: `${top}px` }}>
      <span class="cell name" role="cell">
        <Icon name={type === 'directory' ? 'folder' : type === 'symlink' ? 'link' : 'file'} />
        <a href={placeHref(place)} title={metadata?.target == null ? name : `${name} → ${metadata.target}`}>
          {name}
        </a>
      </span>
      <span class="cell size" role="cell">
        {type === 'file' && metadata !== null ? bytesText(metadata.size_bytes) : ''}
      </span>
      <span class="cell modified" role="cell">
        {metadata === null ? (entry.error ?? '') : momentText(metadata.modified_at, now.peek())}
      </span>
      <span class="cell actions" role="cell">
        {(type === 'file' || type === 'directory') && (
          <a
            class="button quiet small"
            href={downloadHref(place, type)}
            download={type === 'file' ? name : `${name}.tar`}
            aria-label={`Download ${name}`}
            title={type === 'file' ? 'Download' : 'Download as tar'}
          >
            <Icon name="download" />
          </a>
        )}
        <RowButton word="Rename" icon="edit" name={name} onClick={() => (fileDialog.value = { kind: 'rename', place })} />
        <RowButton word="Delete" icon="bin" name={name} onClick={() => (fileDialog.value = { kind: 'delete', place, type })} />
      </span>
    </div>
  );
}

function RowButton({ word, icon, name, onClick }: { word: string; icon: 'edit' | 'bin'; name: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="quiet small" aria-label={`${word} ${name}`} title={word} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
