import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import { GOING_AWAY } from '../plugins/websocket.js';
import type { AttachAbout, AttachControl, AttachEvent } from '../protocol/attach.js';
import { ATTACH_HEAD_BYTES, attachCloseCode, attachNumber } from '../protocol/attach-frame.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, Subscription } from '../protocol/exec-process.js';
import type { Gap, ProcessEvent } from '../protocol/output.js';
import type { Exit, ProcessInfo } from '../protocol/process.js';
import type { AttachBeginning } from './attach-beginning.js';
import { readControl } from './attach-control.js';
import { type AttachForm, NumberedForm, RawForm, textFrame } from './attach-form.js';
import { beat } from './attach-heartbeat.js';
import { AttachInput, asGatewayError } from './attach-input.js';
import { Receipts } from './attach-receipts.js';
import { SameProcess } from './same-process.js';

/** What a viewer is attached to, and how. */
export interface Attachment extends AttachBeginning {
  process: ProcessInfo;
  subscription: Subscription<ProcessEvent>;
  read_only: boolean;
  /** Whether it speaks the subprotocol; else it is given bytes. */
  numbered: boolean;
}

export interface ViewerOptions {
  processes: ExecProcess;
  heartbeat_ms: number;
  /** Whether the gateway is going down: then that is why the connection ends. */
  stopping: AbortSignal;
  streamsEnd: AbortSignal;
}

/** Messages about the process that are under way, at which the viewer is not read any more. */
const MOST_CONTROLS = 64;

/** What a viewer may leave unread, in bytes, before it is not read any more: more than a batch, so only answers add up to it. */
const MOST_UNSENT_BYTES = 512 * 1024;

/** One WebSocket on one process: output at the viewer's own pace, input in the order of its arrival. */
export class AttachViewer {
  readonly #socket: WebSocket;
  readonly #raw: Socket;
  readonly #to: Attachment;
  readonly #options: ViewerOptions;
  readonly #form: AttachForm;
  readonly #process: SameProcess;
  readonly #input: AttachInput;
  readonly #receipts: Receipts | null;
  /** Why the viewer is not read now. */
  readonly #holds = new Set<'input' | 'controls' | 'unsent'>();
  #controls: Promise<void> = Promise.resolve();
  #pending = 0;
  #exit: Exit | null = null;
  #closed: boolean;

  /** Listens at once: what the peer sent together with its request is not missed. */
  constructor(socket: WebSocket, raw: Socket, to: Attachment, options: ViewerOptions) {
    const { process, subscription, numbered } = to;
    const { exit_code, signal, tty } = process;
    this.#socket = socket;
    this.#raw = raw;
    this.#to = to;
    this.#options = options;
    this.#form = numbered ? new NumberedForm(tty !== null) : new RawForm(subscription.gap);
    this.#receipts = numbered ? new Receipts((accepted_bytes) => this.#tell({ type: 'accepted', accepted_bytes })) : null;
    if (exit_code !== null) this.#exit = { exit_code, signal };
    this.#closed = subscription.ended;
    this.#process = new SameProcess(options.processes, process);
    this.#input = new AttachInput(this.#process, process.stdin, !numbered, {
      pause: () => this.#hold('input'),
      resume: () => this.#release('input'),
      accepted: (accepted_bytes) => this.#receipts?.add(accepted_bytes),
      refused: (about, error) => this.#refuse(about, error),
    });
    socket.on('message', (bytes: Buffer, binary) => this.#receive(bytes, binary));
    socket.on('ping', () => this.#holdUnsent());
    raw.on('drain', () => this.#release('unsent'));
    socket.once('close', () => this.#left());
  }

  /** Shows what happens until there is no more, or the viewer leaves. */
  async run(): Promise<void> {
    const { process, subscription, after_seq, paint, exited, read_only, numbered } = this.#to;
    const stop = beat(this.#socket, this.#raw, this.#options.heartbeat_ms, () => this.#holds.size > 0);
    this.#socket.once('close', stop);
    if (numbered) {
      const { accepted_bytes } = process.stdin;
      this.#tell({ type: 'hello', process, accepted_bytes, after_seq, read_only, gap: subscription.gap });
      if (exited) this.#tell({ type: 'exited', seq: exited.seq, exit_code: exited.exit_code, signal: exited.signal });
    }
    if (paint && this.#open) this.#raw.write(this.#form.paint(after_seq, paint));
    try {
      for await (const batch of subscription) if (!(await this.#show(batch))) return;
      if (this.#closed) await this.#input.settled(); // its receipt comes before the end
      this.#finish();
    } catch (error) {
      this.#fail('output', asGatewayError(error));
    }
  }

  get #open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** False when the connection has ended, or a hole in the output ends it. */
  async #show(batch: ProcessEvent[]): Promise<boolean> {
    const frames = this.#form.batch(batch);
    if ('from_seq' in frames) {
      this.#endAtGap(frames);
      return false;
    }
    for (const event of batch) {
      if (event.event === 'exited') this.#exit = { exit_code: event.exit_code, signal: event.signal };
      else if (event.event === 'closed') this.#closed = true;
    }
    if (!this.#open) return false;
    this.#raw.cork();
    this.#receipts?.give();
    for (const frame of frames) this.#raw.write(frame);
    this.#raw.uncork();
    if (this.#raw.writableNeedDrain) await this.#drained();
    return true;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#raw.off('drain', done).off('close', done);
        resolve();
      };
      if (this.#raw.destroyed) resolve();
      else this.#raw.on('drain', done).on('close', done);
    });
  }

  #receive(bytes: Buffer, binary: boolean): void {
    if (!this.#open) return; // it was ended from here, and the peer does not know yet
    const { numbered, read_only } = this.#to;
    if (!numbered) {
      if (!read_only) this.#input.append(bytes);
    } else if (!binary) this.#control(bytes);
    else if (read_only) this.#refuse('input', readOnly());
    else {
      const offset = attachNumber(bytes);
      if (offset === null) this.#refuse('input', noOffset());
      else this.#input.pushAt(offset, bytes.subarray(ATTACH_HEAD_BYTES));
    }
  }

  #control(message: Buffer): void {
    const control = readControl(message);
    if ('error' in control) this.#refuse(control.about, control.error);
    else if (control.type === 'detach') this.#end(1000, { detached: true });
    else if (this.#to.read_only) this.#refuse(control.type, readOnly());
    else if (control.type === 'eof') this.#input.end();
    else if (control.type === 'input') this.#input.goOn(control.offset);
    else {
      this.#controls = this.#controls.then(() => this.#steer(control));
      if (++this.#pending >= MOST_CONTROLS) this.#hold('controls');
    }
  }

  async #steer({ type, ...request }: Exclude<AttachControl, { type: 'input' | 'eof' | 'detach' }>): Promise<void> {
    try {
      if ('cols' in request) await this.#process.resize(request);
      else await this.#process.signal(request);
    } catch (error) {
      this.#refuse(type, asGatewayError(error));
    }
    this.#pending--;
    this.#release('controls');
  }

  #hold(why: 'input' | 'controls' | 'unsent'): void {
    this.#holds.add(why);
    if (this.#holds.size === 1) this.#socket.pause();
  }

  #release(why: 'input' | 'controls' | 'unsent'): void {
    if (this.#holds.delete(why) && this.#holds.size === 0) this.#socket.resume();
  }

  /** Answers that a viewer provokes and does not read must not pile up. */
  #holdUnsent(): void {
    if (this.#raw.writableLength > MOST_UNSENT_BYTES) this.#hold('unsent');
  }

  /** Tells of a refusal where it can be told; else it ends the connection, unless the end of the process says it all. */
  #refuse(about: AttachAbout, error: GatewayError): void {
    if (!this.#open) return;
    const { numbered } = this.#to;
    if (error.status >= 500 || (!numbered && error.code !== 'process_exited')) this.#fail(about, error);
    else if (numbered) this.#tellError(about, error);
  }

  #fail(about: AttachAbout, error: GatewayError): void {
    if (this.#to.numbered) this.#tellError(about, error);
    this.#end(attachCloseCode(error), { code: error.code });
  }

  #tellError(about: AttachAbout, error: GatewayError): void {
    this.#receipts?.give();
    this.#tell({ type: 'error', about, code: error.code, detail: error.message, ...error.fields });
  }

  #endAtGap({ from_seq, to_seq, bytes }: Gap): void {
    const error = new GatewayError('output_evicted', '');
    this.#end(attachCloseCode(error), { code: error.code, from_seq, to_seq, bytes });
  }

  #finish(): void {
    if (this.#options.stopping.aborted || !this.#closed) this.#end(GOING_AWAY, { code: 'shutting_down' });
    else this.#end(1000, this.#exit ?? {});
  }

  #end(code: number, reason: object): void {
    this.#receipts?.give();
    if (this.#open) this.#socket.close(code, JSON.stringify(reason));
  }

  #tell(event: AttachEvent): void {
    if (!this.#open) return;
    this.#raw.write(textFrame(event));
    this.#holdUnsent();
  }

  #left(): void {
    this.#input.leave();
    this.#receipts?.drop();
  }
}

function readOnly(): GatewayError {
  return new GatewayError('read_only', 'This viewer only looks on (read_only): attach without it to write and steer.');
}

function noOffset(): GatewayError {
  const detail = 'A binary message must begin with the offset of its bytes in the whole input, as 8 bytes, big-endian, below 2^53.';
  return new GatewayError('invalid_request', detail, { field: 'offset' });
}
