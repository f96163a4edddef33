import { existsSync } from 'node:fs';

const PLACES = [process.env.VIM_PATH, '/usr/bin/vim', '/usr/local/bin/vim'];

/** Where vim is on this machine, or null. Says so aloud when there is none: full screens are not tested then. */
export function findVim(): string | null {
  const path = PLACES.find((place) => place && existsSync(place));
  if (path) return path;
  process.stderr.write('\n*** No vim here: a full-screen program is NOT tested. Install it (apt-get install vim) or set VIM_PATH. ***\n\n');
  return null;
}
