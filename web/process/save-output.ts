import { gateway } from '../session.js';

/** So much is read at a time, in bytes. */
const READ_BYTES = 4 * 1024 * 1024;

/** Takes all output that the gateway holds to a file, byte by byte. Answers how many bytes are missing, null when that is not known. */
export async function saveOutput(process_id: string): Promise<number | null> {
  const { next_seq } = await gateway.get(process_id);
  const parts: BlobPart[] = [];
  let missing: number | null = 0;
  for (let after_seq = 0; after_seq < next_seq - 1; ) {
    const read = await gateway.read(process_id, { after_seq, max_bytes: READ_BYTES });
    if (read.gap !== null) missing = read.gap.bytes === null || missing === null ? null : missing + read.gap.bytes;
    for (const { chunk } of read.chunks) parts.push(chunk as Uint8Array<ArrayBuffer>);
    if (read.next_seq - 1 <= after_seq) break;
    after_seq = read.next_seq - 1;
  }
  saveBlob(new Blob(parts, { type: 'application/octet-stream' }), `${process_id}.log`);
  return missing;
}

/** Hands bytes to the browser as a download. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
