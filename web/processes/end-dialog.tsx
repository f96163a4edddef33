import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ProcessInfo } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { tell, tellFailure } from '../ui/notices.js';
import { closeDialog } from './actions.js';
import { commandOf } from './process-view.js';

/** Asks whether to end a process, and how. */
export function EndDialog({ process }: { process: ProcessInfo }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const end = async (grace_ms?: number) => {
    setBusy(true);
    try {
      const { running } = await gateway.terminate(process.process_id, grace_ms === undefined ? {} : { grace_ms });
      tell(running ? 'The process was asked to end.' : 'The process had ended already.');
    } catch (error) {
      tellFailure(error);
    }
    closeDialog();
  };
  return (
    <Dialog title="End this process?" onClose={closeDialog}>
      <code class="command-preview">{commandOf(process)}</code>
      <p>
        It and what it started get SIGTERM, and SIGKILL two seconds later if they still run. <strong>Kill at once</strong> gives them no
        time to tidy up.
      </p>
      <footer>
        <button type="button" onClick={closeDialog}>
          Leave it running
        </button>
        <button type="button" disabled={busy} onClick={() => end(0)}>
          Kill at once
        </button>
        <button type="button" class="danger" disabled={busy} onClick={() => end()}>
          End it
        </button>
      </footer>
    </Dialog>
  );
}
