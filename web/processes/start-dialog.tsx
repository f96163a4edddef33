import type { JSX, TargetedEvent } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { StartRequest } from '../../src/client/index.js';
import { goTo } from '../route.js';
import { gateway } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { failureText } from '../ui/notices.js';
import { closeDialog, rememberStart } from './actions.js';
import { fieldsOf, NO_FIELDS, type ReadFields, readFields, type StartFields } from './start-fields.js';

type Change = (change: Partial<StartFields>) => void;

/** Asks what to start. */
export function StartDialog({ like }: { like: StartRequest | null }): JSX.Element {
  const [fields, setFields] = useState<StartFields>(() => (like === null ? NO_FIELDS : fieldsOf(like)));
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const read = useMemo(() => readFields(fields), [fields]);
  const change: Change = (some) => {
    setFailure(null);
    setFields({ ...fields, ...some });
  };
  const start = async (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    if ('error' in read) return setFailure(read.error);
    setBusy(true);
    try {
      const { argv, ...rest } = read.request;
      const { process_id } = await gateway.start(argv, rest);
      rememberStart(process_id, read.request);
      closeDialog();
      goTo('processes', process_id);
    } catch (error) {
      setFailure(failureText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={like === null ? 'Start a process' : 'Run again'} onClose={closeDialog} wide>
      <form onSubmit={start}>
        <CommandField fields={fields} change={change} read={read} />
        <Switches fields={fields} change={change} />
        <MoreFields fields={fields} change={change} open={like !== null} />
        {failure !== null && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <footer>
          <button type="button" onClick={closeDialog}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            Start
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function CommandField({ fields, change, read }: { fields: StartFields; change: Change; read: ReadFields }): JSX.Element {
  const submit = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  return (
    <div class="field">
      <label for="start-command">Command</label>
      <textarea
        id="start-command"
        class="mono"
        rows={2}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        placeholder="ls -l 'My Documents'"
        aria-describedby="start-argv"
        value={fields.command}
        onInput={(event) => change({ command: event.currentTarget.value })}
        onKeyDown={submit}
      />
      <div id="start-argv" class="argv">
        {fields.command.trim() !== '' && <Argv fields={fields} read={read} />}
      </div>
    </div>
  );
}

function Argv({ fields, read }: { fields: StartFields; read: ReadFields }): JSX.Element {
  if ('error' in read) return <span class="hint">{read.error}</span>;
  return (
    <>
      <span class="hint">argv</span>
      {read.request.argv.map((word, index) => (
        <code key={index}>{word === '' ? ' ' : word}</code>
      ))}
      {!fields.shell && read.shell_words.length > 0 && (
        <span class="hint warn">No shell is added: {read.shell_words.slice(0, 3).join(' ')} goes to the program as it stands.</span>
      )}
    </>
  );
}

const SWITCHES: [name: 'shell' | 'tty' | 'pipe_stdin', word: string, hint: string][] = [
  ['shell', 'In a shell', 'sh -c, for pipes, globs and variables'],
  ['tty', 'On a terminal', 'for shells, editors and full-screen programs'],
  ['pipe_stdin', 'Keep stdin open', 'to write to it later'],
];

function Switches({ fields, change }: { fields: StartFields; change: Change }): JSX.Element {
  return (
    <div class="switches">
      {SWITCHES.map(([name, word, hint]) => (
        <label key={name} class="switch">
          <input
            type="checkbox"
            checked={fields[name]}
            disabled={name === 'pipe_stdin' && fields.tty}
            onChange={(event) => change({ [name]: event.currentTarget.checked })}
          />
          <span>
            {word}
            <small>{hint}</small>
          </span>
        </label>
      ))}
    </div>
  );
}

const LINES: [name: 'cwd' | 'timeout' | 'process_id', word: string, placeholder: string][] = [
  ['cwd', 'Working directory', 'that of the gateway'],
  ['timeout', 'Time limit', 'none; such as 30 s, 5 min'],
  ['process_id', 'Process id', 'made up'],
];

const BLOCKS: [name: 'env' | 'labels', word: string, placeholder: string][] = [
  ['env', 'Environment', 'NAME=value, one a line'],
  ['labels', 'Labels', 'key=value, one a line'],
];

function MoreFields({ fields, change, open }: { fields: StartFields; change: Change; open: boolean }): JSX.Element {
  return (
    <details open={open}>
      <summary>Directory, environment, labels, time limit</summary>
      <div class="more-fields">
        {LINES.map(([name, word, placeholder]) => (
          <label key={name} class="field">
            {word}
            <input
              type="text"
              class="mono"
              spellcheck={false}
              autocomplete="off"
              placeholder={placeholder}
              value={fields[name]}
              onInput={(event) => change({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        {BLOCKS.map(([name, word, placeholder]) => (
          <label key={name} class="field block">
            {word}
            <textarea
              class="mono"
              rows={2}
              spellcheck={false}
              placeholder={placeholder}
              value={fields[name]}
              onInput={(event) => change({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
