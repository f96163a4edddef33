import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GatewayError } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { failureText, tell } from '../ui/notices.js';
import { type LineEnd, MAX_TEXT_BYTES } from './file-content.js';
import { filePath, nameOf, type Place, placeHref } from './place.js';

/** A text that is being edited. */
export interface Draft {
  text: string;
  /** Of the content it was made from; null when there was none to tell. */
  etag: string | null;
  line_end: LineEnd;
}

/** By address: whoever leaves a page and comes back goes on. */
const drafts = new Map<string, Draft>();

export const draftOf = (place: Place): Draft | null => drafts.get(placeHref(place)) ?? null;

export function keepDraft(place: Place, draft: Draft): void {
  drafts.set(placeHref(place), draft);
}

/** Asks before a page with drafts is left. */
function guard(event: BeforeUnloadEvent): void {
  if (drafts.size > 0) event.preventDefault();
}

/** Edits the draft of a small file. It is saved over what it was made from alone, unless somebody says otherwise. */
export function TextEditor({ place, onDone }: { place: Place; onDone: () => void }): JSX.Element {
  const [text, setText] = useState(draftOf(place)?.text.replaceAll('\r\n', '\n') ?? '');
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    window.addEventListener('beforeunload', guard);
    return () => window.removeEventListener('beforeunload', guard);
  }, []);
  const { etag, line_end } = draftOf(place) ?? { etag: null, line_end: '\n' as LineEnd };
  const type = (typed: string) => {
    keepDraft(place, { text: typed, etag, line_end });
    setText(typed);
  };
  const leave = () => {
    drafts.delete(placeHref(place));
    onDone();
  };
  const save = async (if_match: string | null) => {
    setBusy(true);
    setFailure(null);
    try {
      const content = new TextEncoder().encode(line_end === '\r\n' ? text.replaceAll('\n', '\r\n') : text);
      await gateway.files.write(filePath(place), content, if_match === null ? {} : { if_match });
      tell(`${nameOf(place)} was saved.`);
      leave();
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'precondition_failed') setConflict(true);
      else setFailure(failureText(error));
      setBusy(false);
    }
  };
  return (
    <form
      class="text-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save(etag);
      }}
    >
      {conflict && <Conflict busy={busy} onReload={leave} onOverwrite={() => save(null)} />}
      {failure !== null && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <textarea
        class="mono"
        aria-label={`Text of ${nameOf(place)}`}
        spellcheck={false}
        maxLength={MAX_TEXT_BYTES}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <footer>
        <button type="button" onClick={leave}>
          Discard
        </button>
        <button type="submit" class="primary" disabled={busy}>
          Save
        </button>
      </footer>
    </form>
  );
}

function Conflict({ busy, onReload, onOverwrite }: { busy: boolean; onReload: () => void; onOverwrite: () => void }): JSX.Element {
  return (
    <div class="conflict" role="alert">
      <p>
        <strong>The file has changed since you opened it.</strong> Saving would undo what others wrote.
      </p>
      <button type="button" disabled={busy} onClick={onReload}>
        Reload it, without my changes
      </button>
      <button type="button" class="danger" disabled={busy} onClick={onOverwrite}>
        Overwrite it
      </button>
    </div>
  );
}
