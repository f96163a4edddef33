import { GatewayError, MAX_UPLOAD_BYTES, MAX_UPLOADS, type UploadName } from '../protocol/index.js';
import { pathBytes } from './path-bytes.js';

/** Finished ones that are remembered, so that a caller who missed the last answer learns it. */
const FINISHED = 1_000;

/** Longest time between two looks for what has expired, in milliseconds. */
const SWEEP_MS = 600_000;

interface Entry {
  upload: UploadName;
  touched: number;
}

/** The uploads that this program knows of, unfinished and finished. What an earlier one left is known when it is gone on with. */
export class UnfinishedUploads {
  readonly #entries = new Map<string, Entry>();
  readonly #finished = new Map<string, UploadName>();
  readonly #expiry_ms: number;
  readonly #expired: (upload: UploadName) => void;
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param expired called for each upload whose time is over */
  constructor(expiry_ms: number, expired: (upload: UploadName) => void) {
    this.#expiry_ms = expiry_ms;
    this.#expired = expired;
  }

  #checkRoom(size_bytes: number): void {
    const [what, limit] =
      this.#entries.size >= MAX_UPLOADS
        ? [`${MAX_UPLOADS} uploads are unfinished`, MAX_UPLOADS]
        : [`unfinished uploads hold ${MAX_UPLOAD_BYTES} bytes`, MAX_UPLOAD_BYTES];
    if (this.#entries.size < MAX_UPLOADS && this.#bytes + size_bytes <= MAX_UPLOAD_BYTES) return;
    throw new GatewayError('too_many_uploads', `With this one, ${what}, which is the limit: finish or give up another one first.`, {
      limit,
    });
  }

  /**
   * Counts an upload, from now on or anew.
   * @throws {GatewayError} `too_many_uploads` for one that is not counted yet
   */
  touch(upload: UploadName): void {
    if (!this.#entries.has(upload.upload_id)) this.#checkRoom(upload.size_bytes);
    this.forget(upload.upload_id);
    this.#entries.set(upload.upload_id, { upload, touched: Date.now() });
    this.#bytes += upload.size_bytes;
    this.#timer ??= setInterval(() => this.#sweep(), Math.min(SWEEP_MS, Math.max(1, this.#expiry_ms))).unref();
  }

  forget(upload_id: string): void {
    const entry = this.#entries.get(upload_id);
    if (entry === undefined) return;
    this.#entries.delete(upload_id);
    this.#bytes -= entry.upload.size_bytes;
  }

  finish(upload: UploadName): void {
    this.forget(upload.upload_id);
    this.#finished.set(upload.upload_id, upload);
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > FINISHED && oldest !== undefined) this.#finished.delete(oldest);
  }

  isFinished(upload: UploadName): boolean {
    const finished = this.#finished.get(upload.upload_id);
    return finished?.size_bytes === upload.size_bytes && pathBytes(finished).equals(pathBytes(upload));
  }

  close(): void {
    clearInterval(this.#timer ?? undefined);
  }

  #sweep(): void {
    const over = Date.now() - this.#expiry_ms;
    for (const { upload, touched } of [...this.#entries.values()]) {
      if (touched > over) return; // the others are younger
      this.forget(upload.upload_id);
      this.#expired(upload);
    }
  }
}
