import type { JSX } from 'preact';
import { openDialog } from './actions.js';
import { EndDialog } from './end-dialog.js';
import { SignalDialog } from './signal-dialog.js';
import { StartDialog } from './start-dialog.js';

/** The dialog that is open, if one is. */
export function Dialogs(): JSX.Element | null {
  const open = openDialog.value;
  switch (open?.kind) {
    case 'start':
      return <StartDialog like={open.like} />;
    case 'end':
      return <EndDialog process={open.process} />;
    case 'signal':
      return <SignalDialog process={open.process} />;
    default:
      return null;
  }
}
