import type { JSX } from 'preact';
import { LazyApiPage } from './api/lazy-api-page.js';
import { FilesPage } from './files/files-page.js';
import { placeOf } from './files/place.js';
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
  { page: 'files', word: 'Files', icon: 'folder' },
  { page: 'api', word: 'API', icon: 'book' },
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
  const { page, rest, raw } = route.value;
  if (page === 'overview') return <OverviewPage />;
  if (page === 'files') return <FilesPage key={raw} place={placeOf(raw)} />;
  if (page === 'api') return <LazyApiPage id={rest} />;
  return rest === '' ? <ProcessesPage /> : <ProcessPage key={rest} process_id={rest} />;
}
