import { signal } from '@preact/signals';
import { GatewayError } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { failureText } from '../ui/notices.js';
import { filesChanged } from './files-changed.js';
import { childOf, filePath, type Place } from './place.js';

/** A file on its way to the gateway. */
export interface Upload {
  id: number;
  file: File;
  place: Place;
  sent_bytes: number;
  state: 'waiting' | 'sending' | 'done' | 'exists' | 'failed';
  failure: string | null;
  life: AbortController;
}

/** A larger file is sent in parts of this size, in bytes: each is told of, and what has arrived is not sent again. */
const PART_BYTES = 4 * 1024 * 1024;

/** Pause before a part is tried again after the line broke, in milliseconds. */
const AGAIN_MS = 1_000;

export const uploads = signal<readonly Upload[]>([]);

let last_id = 0;
let sending = false;

/** Sends files into a directory, one after the other. What is there of the same name is not replaced unasked. */
export function uploadFiles(directory: Place, files: Iterable<File>): void {
  const added = Array.from(files, (file): Upload => {
    const place = childOf(directory, { name: file.name, name_base64: null });
    return { id: ++last_id, file, place, sent_bytes: 0, state: 'waiting', failure: null, life: new AbortController() };
  });
  uploads.value = [...uploads.value, ...added];
  void sendWaiting();
}

/** Sends it again, over what is there. */
export async function replaceByUpload(upload: Upload): Promise<void> {
  await send(upload, {});
}

/** Gives it up if it is under way, and shows it no more. */
export function dropUpload(upload: Upload): void {
  upload.life.abort();
  uploads.value = uploads.value.filter(({ id }) => id !== upload.id);
}

async function sendWaiting(): Promise<void> {
  if (sending) return;
  sending = true;
  for (let next = waiting(); next !== undefined; next = waiting()) await send(next, { if_none_match: '*' });
  sending = false;
}

const waiting = () => uploads.value.find(({ state }) => state === 'waiting');

function change(id: number, changed: Partial<Upload>): void {
  uploads.value = uploads.value.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload));
}

async function send(upload: Upload, condition: { if_none_match?: string }): Promise<void> {
  const { id, file, place, life } = upload;
  change(id, { state: 'sending', failure: null, sent_bytes: 0 });
  try {
    const options = { ...condition, signal: life.signal };
    if (file.size <= PART_BYTES) await gateway.files.write(filePath(place), file, options);
    else await sendParts(upload, options);
    change(id, { state: 'done', sent_bytes: file.size });
    filesChanged();
  } catch (error) {
    if (life.signal.aborted) return;
    const exists = error instanceof GatewayError && error.code === 'precondition_failed';
    change(id, exists ? { state: 'exists' } : { state: 'failed', failure: failureText(error) });
  }
}

async function sendParts({ id, file, place }: Upload, options: { if_none_match?: string; signal: AbortSignal }): Promise<void> {
  const { system } = gateway.files;
  const { upload_id } = await system.createUpload(filePath(place), file.size, options);
  const name = { ...filePath(place), upload_id, size_bytes: file.size };
  try {
    for (let at: number | null = 0; at !== file.size; ) {
      try {
        at ??= (await system.getUpload(name, { signal: options.signal })).offset_bytes;
        if (at < file.size) at = (await system.appendUpload(name, at, file.slice(at, at + PART_BYTES) as never, options)).offset_bytes;
      } catch (error) {
        if (options.signal.aborted || !(error instanceof GatewayError && error.code === 'upstream_unreachable')) throw error;
        at = null; // some of it may have arrived
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
      if (at !== null) change(id, { sent_bytes: at });
    }
  } catch (error) {
    system.cancelUpload(name).catch(() => {}); // it expires by itself
    throw error;
  }
}
