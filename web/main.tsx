import { render } from 'preact';
import { App } from './app.js';
import { startClock } from './clock.js';
import { startWatching } from './processes/process-store.js';
import { followAddress } from './route.js';
import { beginSession } from './session.js';
import { applyTheme } from './theme.js';

applyTheme();
const began = beginSession(); // takes the token out of the address before anything looks at it
followAddress();
startClock();
startWatching();
render(<App />, document.getElementById('app') as HTMLElement);
await began;
