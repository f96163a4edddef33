import type { JSX, TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { ProcessInfo, SignalScope } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { failureText, tell } from '../ui/notices.js';
import { closeDialog } from './actions.js';
import { commandOf } from './process-view.js';

const SIGNALS: [name: string, what: string][] = [
  ['SIGINT', 'interrupt, as Ctrl+C does'],
  ['SIGTERM', 'please end'],
  ['SIGHUP', 'hang up; often: read the settings again'],
  ['SIGQUIT', 'quit with a core dump'],
  ['SIGUSR1', 'whatever the program makes of it'],
  ['SIGUSR2', 'whatever the program makes of it'],
  ['SIGSTOP', 'stand still'],
  ['SIGCONT', 'go on'],
  ['SIGKILL', 'end at once'],
];

const SCOPES: [SignalScope, string][] = [
  ['group', 'The program and what it started'],
  ['leader', 'The program alone'],
  ['foreground', 'What is in the foreground of its terminal'],
];

/** Asks which signal to send, and to whom. */
export function SignalDialog({ process }: { process: ProcessInfo }): JSX.Element {
  const [name, setName] = useState('SIGINT');
  const [scope, setScope] = useState<SignalScope>('group');
  const [failure, setFailure] = useState<string | null>(null);
  const send = async (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    try {
      await gateway.signal(process.process_id, name, { scope });
      tell(`${name} was sent.`);
      closeDialog();
    } catch (error) {
      setFailure(failureText(error));
    }
  };
  const scopes = process.tty === null ? SCOPES.slice(0, 2) : SCOPES;
  return (
    <Dialog title="Send a signal" onClose={closeDialog}>
      <form onSubmit={send}>
        <code class="command-preview">{commandOf(process)}</code>
        <label class="field">
          Signal
          <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {SIGNALS.map(([value, what]) => (
              <option key={value} value={value}>
                {value}: {what}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          To
          <select value={scope} onChange={(event) => setScope(event.currentTarget.value as SignalScope)}>
            {scopes.map(([value, what]) => (
              <option key={value} value={value}>
                {what}
              </option>
            ))}
          </select>
        </label>
        {failure !== null && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <footer>
          <button type="button" onClick={closeDialog}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Send {name}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
