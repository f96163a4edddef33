import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { now } from '../clock.js';
import { bytesText, momentText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { failureText } from '../ui/notices.js';
import { downloadHref } from './download.js';
import { type FileShown, MAX_TEXT_BYTES, readShown, type Shown } from './file-content.js';
import { fileDialog } from './file-dialogs.js';
import { nameOf, type Place, placeHref } from './place.js';
import { draftOf, keepDraft, TextEditor } from './text-editor.js';

/** One file: what it holds, as text or as a picture, and what can be done with it. */
export function FileView({ place }: { place: Place }): JSX.Element {
  const [file, setFile] = useState<FileShown | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [editing, setEditing] = useState(draftOf(place) !== null);
  const [reads, setReads] = useState(0);
  useEffect(() => {
    const life = new AbortController();
    readShown(place, life.signal).then(setFile, (error: unknown) => life.signal.aborted || setFailure(failureText(error)));
    return () => life.abort();
  }, [reads]);
  const done = () => {
    setEditing(false);
    setReads((count) => count + 1);
  };
  const edit = ({ metadata, shown }: FileShown) => {
    if (shown.kind === 'text') keepDraft(place, { text: shown.text, etag: metadata.etag, line_end: shown.line_end ?? '\n' });
    setEditing(true);
  };
  return (
    <article class="file-view" aria-label={nameOf(place)}>
      <Head place={place} file={file} editing={editing} onEdit={edit} />
      {failure !== null && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {editing ? <TextEditor place={place} onDone={done} /> : file !== null && <Content shown={file.shown} name={nameOf(place)} />}
    </article>
  );
}

interface HeadProps {
  place: Place;
  file: FileShown | null;
  editing: boolean;
  onEdit: (file: FileShown) => void;
}

function Head({ place, file, editing, onEdit }: HeadProps): JSX.Element {
  const text = file?.shown.kind === 'text' ? file.shown : null;
  return (
    <header class="page-head file-head">
      <a class="button quiet small" href={placeHref(place.slice(0, -1))} aria-label="Its directory" title="Its directory">
        <Icon name="back" />
      </a>
      <span class="file-facts">
        {file !== null && `${bytesText(file.metadata.size_bytes)} · ${momentText(file.metadata.modified_at, now.peek())}`}
        {text !== null && !text.whole && ` · the first ${bytesText(MAX_TEXT_BYTES)} are shown`}
        {text?.line_end === null && ' · its lines end in several ways: it is not edited here'}
      </span>
      <span class="spring" />
      {file !== null && text?.whole && text.line_end !== null && !editing && (
        <button type="button" onClick={() => onEdit(file)}>
          <Icon name="edit" />
          Edit
        </button>
      )}
      <a class="button" href={downloadHref(place, 'file')} download={nameOf(place)}>
        <Icon name="download" />
        Download
      </a>
      <button
        type="button"
        class="quiet small"
        aria-label="Delete"
        title="Delete"
        onClick={() => (fileDialog.value = { kind: 'delete', place, type: 'file' })}
      >
        <Icon name="bin" />
      </button>
    </header>
  );
}

function Content({ shown, name }: { shown: Shown; name: string }): JSX.Element {
  switch (shown.kind) {
    case 'text':
      return (
        <pre class="file-text" tabindex={0}>
          {shown.text}
        </pre>
      );
    case 'image':
      return <Picture image={shown.image} name={name} />;
    default:
      return (
        <div class="empty">
          <Icon name="file" />
          <p>{shown.why}</p>
        </div>
      );
  }
}

function Picture({ image, name }: { image: Blob; name: string }): JSX.Element {
  const [address, setAddress] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(image);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  if (broken) return <p class="empty">This picture cannot be shown: it is broken, or of a kind the browser does not know.</p>;
  return <div class="file-picture">{address !== null && <img src={address} alt={name} onError={() => setBroken(true)} />}</div>;
}
