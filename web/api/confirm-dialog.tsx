import type { JSX } from 'preact';
import { Dialog } from '../ui/dialog.js';
import type { CallRequest } from './call-request.js';

interface ConfirmDialogProps {
  request: CallRequest;
  onSure: () => void;
  onClose: () => void;
}

/** Asks before something is deleted. */
export function ConfirmDialog({ request: { method, path }, onSure, onClose }: ConfirmDialogProps): JSX.Element {
  return (
    <Dialog title="Send this?" onClose={onClose}>
      <code class="command-preview">
        {method} {path}
      </code>
      <p>It is sent to this gateway as it is, and what it takes away does not come back.</p>
      <footer>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
        <button type="button" class="danger" onClick={onSure}>
          Send it
        </button>
      </footer>
    </Dialog>
  );
}
