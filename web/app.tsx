import type { JSX } from 'preact';
import { OverviewPage } from './overview/overview-page.js';
import { ProcessPage } from './process/process-page.js';
import { Dialogs } from './processes/dialogs.js';
import { ProcessesPage } from './processes/processes-page.js';
import { route } from './route.js';
import { sessionState } from './session.js';
import { type MenuEntry, Shell } from './shell/shell.js';
import { SignIn } from './shell/sign-in.js';
import { Notices } from './ui/notices.js';

const ENTRIES: MenuEntry[] = [
  { page: 'overview', word: 'Overview', icon: 'gauge' },
  { page: 'processes', word: 'Processes', icon: 'list' },
];

/** The whole app. */
export function App(): JSX.Element {
  return (
    <>
      <Content />
      <Notices />
    </>
  );
}

function Content(): JSX.Element | null {
  switch (sessionState.value) {
    case 'unknown':
      return null;
    case 'out':
      return <SignIn />;
    default:
      return (
        <Shell entries={ENTRIES}>
          <Page />
          <Dialogs />
        </Shell>
      );
  }
}

function Page(): JSX.Element {
  const { page, rest } = route.value;
  if (page === 'overview') return <OverviewPage />;
  return rest === '' ? <ProcessesPage /> : <ProcessPage key={rest} process_id={rest} />;
}
