import { DataDirectory } from '../host/data-directory.js';
import { runProcessHost } from '../process-host.js';
import type { HostOptions } from './host-options.js';
import { settled } from './serve-host.js';
import { VERSION } from './version.js';

/**
 * Runs a process host until it is drained, ended, or needed no more.
 * @throws {SettingError}
 */
export async function host({ dataDir, transcriptBytes, transcriptTotalBytes }: HostOptions): Promise<void> {
  const transcripts = { transcript_bytes: transcriptBytes, transcript_total_bytes: transcriptTotalBytes };
  await settled(() => runProcessHost(DataDirectory.open(dataDir), VERSION, transcripts));
  // Whoever started it waits for this word; it may be gone by now.
  process.send?.('ready', () => {});
  process.once('disconnect', () => {});
}
