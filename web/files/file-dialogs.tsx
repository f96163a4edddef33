import { signal } from '@preact/signals';
import type { JSX, TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { FileType } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { failureText, tell } from '../ui/notices.js';
import { filesChanged } from './files-changed.js';
import { childOf, filePath, nameOf, type Place, placeHref, siblingOf } from './place.js';

/** What is asked about a place: for a folder it is the directory to make it in. */
type Asked = { kind: 'folder' | 'rename'; place: Place } | { kind: 'delete'; place: Place; type: FileType | null };

export const fileDialog = signal<Asked | null>(null);

const close = () => {
  fileDialog.value = null;
};

/** The dialog about files that is open, if one is. */
export function FileDialog(): JSX.Element | null {
  const asked = fileDialog.value;
  switch (asked?.kind) {
    case 'folder':
      return <NameDialog title="New folder" word="Make it" name="" act={(name) => makeFolder(asked.place, name)} />;
    case 'rename':
      return <NameDialog title="Rename" word="Rename" name={nameOf(asked.place)} act={(name) => rename(asked.place, name)} />;
    case 'delete':
      return <DeleteDialog place={asked.place} type={asked.type} />;
    default:
      return null;
  }
}

async function makeFolder(place: Place, name: string): Promise<void> {
  await gateway.files.createDirectory(filePath(childOf(place, { name, name_base64: null })));
}

async function rename(place: Place, name: string): Promise<void> {
  if (name !== nameOf(place)) await gateway.files.move(filePath(place), filePath(siblingOf(place, name)));
}

interface NameDialogProps {
  title: string;
  word: string;
  name: string;
  act: (name: string) => Promise<void>;
}

function NameDialog({ title, word, name: before, act }: NameDialogProps): JSX.Element {
  const [name, setName] = useState(before);
  const [failure, setFailure] = useState<string | null>(null);
  const usable = name !== '' && name !== '.' && name !== '..' && !name.includes('/');
  const submit = async (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    if (!usable) return;
    try {
      await act(name.toWellFormed());
      close();
      filesChanged();
    } catch (error) {
      setFailure(failureText(error));
    }
  };
  return (
    <Dialog title={title} onClose={close}>
      <form onSubmit={submit}>
        <label class="field">
          Name
          <input class="mono" value={name} autocomplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Failure text={name.includes('/') ? 'A name holds no slash.' : failure} />
        <footer>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!usable}>
            {word}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ place, type }: { place: Place; type: FileType | null }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const remove = async () => {
    setBusy(true);
    try {
      await gateway.files.remove(filePath(place), { recursive: type === 'directory' });
      tell(`${nameOf(place)} was deleted.`);
      close();
      if (window.location.hash === placeHref(place)) window.location.hash = placeHref(place.slice(0, -1));
      filesChanged();
    } catch (error) {
      setFailure(failureText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={type === 'directory' ? 'Delete this folder?' : 'Delete this?'} onClose={close}>
      <code class="command-preview">{nameOf(place)}</code>
      <p>{type === 'directory' ? 'All that is in it is deleted too. ' : ''}It cannot be brought back.</p>
      <Failure text={failure} />
      <footer>
        <button type="button" onClick={close}>
          Keep it
        </button>
        <button type="button" class="danger" disabled={busy} onClick={remove}>
          Delete
        </button>
      </footer>
    </Dialog>
  );
}

function Failure({ text }: { text: string | null }): JSX.Element | null {
  if (text === null) return null;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}
