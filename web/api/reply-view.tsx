import type { JSX } from 'preact';
import { bytesText, durationText } from '../format.js';
import { copyText } from '../process/copy-text.js';
import { saveBlob } from '../process/save-output.js';
import { Icon } from '../ui/icon.js';
import { tell, tellFailure } from '../ui/notices.js';
import type { Attempt, AttemptState } from './attempt.js';
import { MAX_BODY_BYTES } from './reply-body.js';

/** What was answered, as it comes. */
export function ReplyView({ attempt }: { attempt: Attempt }): JSX.Element {
  const state = attempt.state.value;
  const under_way = state.phase === 'sending' || state.phase === 'receiving';
  return (
    <div class="reply-view">
      <div class="reply-line">
        <p role="status">
          {state.status !== null && (
            <span class={state.status < 400 ? 'status good' : 'status bad'}>
              {state.status} {state.status_text}
            </span>
          )}
          <span>{phaseText(state)}</span>
        </p>
        {state.took_ms !== null && (
          <span class="hint">
            {durationText(state.took_ms)} · {bytesText(state.bytes)}
          </span>
        )}
        <span class="spring" />
        {under_way ? (
          <button type="button" onClick={() => attempt.stop()}>
            <Icon name="stop" />
            Stop
          </button>
        ) : (
          <BodyActions attempt={attempt} />
        )}
      </div>
      {state.failure !== null && (
        <p class="failure" role="alert">
          {state.failure}
        </p>
      )}
      {state.body.kind !== 'none' && (
        <section aria-label="Body of the reply">
          <pre class="code reply-body" tabindex={0}>
            {state.body.text}
          </pre>
        </section>
      )}
      {state.headers.length > 0 && <Headers headers={state.headers} />}
    </div>
  );
}

function phaseText({ phase, status }: AttemptState): string {
  switch (phase) {
    case 'sending':
      return 'Sending…';
    case 'receiving':
      return 'Live';
    case 'cut':
      return `The first ${bytesText(MAX_BODY_BYTES)}`;
    case 'stopped':
      return status === null ? 'Stopped before there was a reply' : 'Stopped';
    case 'failed':
      return status === null ? 'No reply' : 'Broken off';
    default:
      return '';
  }
}

function BodyActions({ attempt }: { attempt: Attempt }): JSX.Element | null {
  const { body, phase, headers } = attempt.state.value;
  if (body.kind === 'none') return null;
  const copy = () => copyText(body.text).then(() => tell('The body is on the clipboard.'), tellFailure);
  const save = () =>
    saveBlob(new Blob([attempt.content as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' }), nameOf(headers));
  return (
    <>
      <button type="button" class="quiet small" aria-label="Copy the body" title="Copy the body" onClick={copy}>
        <Icon name="copy" />
      </button>
      {phase === 'complete' && attempt.content.length > 0 && (
        <button type="button" class="quiet small" aria-label="Save the body" title="Save the body" onClick={save}>
          <Icon name="download" />
        </button>
      )}
    </>
  );
}

const nameOf = (headers: AttemptState['headers']): string =>
  /json\b/.test(headers.find(([name]) => name === 'content-type')?.[1] ?? '') ? 'reply.json' : 'reply.bin';

function Headers({ headers }: { headers: AttemptState['headers'] }): JSX.Element {
  return (
    <details class="inner">
      <summary>
        Headers <span class="hint">{headers.length}</span>
      </summary>
      <dl class="headers">
        {headers.map(([name, value], index) => (
          <div key={index}>
            <dt class="mono">{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
