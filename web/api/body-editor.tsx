import type { JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { bytesText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { exampleText, type Filled } from './call-request.js';
import { SchemaView } from './schema-view.js';
import type { Call, Media, Schema } from './spec.js';

interface BodyEditorProps {
  call: Call;
  filled: Filled;
  schemas: Record<string, Schema>;
  onChange: (part: Partial<Filled>) => void;
}

/** The body of a request: text that begins with the example, or a file; and what it may hold. */
export function BodyEditor({ call, filled, schemas, onChange }: BodyEditorProps): JSX.Element {
  const id = useId();
  const media = call.bodies.find(({ type }) => type === filled.body_type) as Media;
  const is_json = media.type === 'application/json';
  const choose = (type: string) => {
    const chosen = call.bodies.find((one) => one.type === type) as Media;
    onChange({ body_type: type, body: exampleText(chosen), file: null });
  };
  const trouble = is_json ? troubleOf(filled.body) : null;
  return (
    <section class="part" aria-labelledby="body-title">
      <h2 id="body-title">Body {!call.body_required && <span class="hint">may be left out</span>}</h2>
      <div class="body-editor">
        <div class="body-text">
          <div class="toolbar tight">
            {call.bodies.length > 1 ? (
              <select aria-label="Type of the body" value={media.type} onChange={(event) => choose(event.currentTarget.value)}>
                {call.bodies.map(({ type }) => (
                  <option key={type}>{type}</option>
                ))}
              </select>
            ) : (
              <code>{media.type === '*/*' ? 'any type' : media.type}</code>
            )}
            <span class="spring" />
            {!is_json && <FileChoice file={filled.file} onChange={(file) => onChange({ file })} />}
          </div>
          {filled.file === null && (
            <textarea
              class="mono"
              rows={Math.min(18, Math.max(4, filled.body.split('\n').length + 1))}
              spellcheck={false}
              aria-labelledby="body-title"
              aria-describedby={`${id}-trouble`}
              value={filled.body}
              onInput={(event) => onChange({ body: event.currentTarget.value })}
            />
          )}
          <p class="hint trouble" id={`${id}-trouble`}>
            {trouble}
          </p>
        </div>
        {is_json && (
          <section class="body-fields" aria-label="Fields of the body" tabindex={0}>
            <SchemaView schema={media.schema} schemas={schemas} />
          </section>
        )}
      </div>
    </section>
  );
}

/** It may be sent all the same: one may want to see what the gateway says. */
function troubleOf(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`;
  }
}

function FileChoice({ file, onChange }: { file: File | null; onChange: (file: File | null) => void }): JSX.Element {
  const chooser = useRef<HTMLInputElement>(null);
  if (file !== null) {
    return (
      <>
        <span class="mono">
          {file.name}, {bytesText(file.size)}
        </span>
        <button type="button" class="quiet small" aria-label="Take no file" onClick={() => onChange(null)}>
          <Icon name="close" />
        </button>
      </>
    );
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => chooser.current?.click()}>
        <Icon name="upload" />
        Take a file
      </button>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label="File to send"
        onChange={(event) => onChange(event.currentTarget.files?.[0] ?? null)}
      />
    </>
  );
}
