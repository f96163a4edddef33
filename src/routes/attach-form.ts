import type { AttachEvent } from '../protocol/attach.js';
import { ATTACH_HEAD_BYTES, setAttachNumber } from '../protocol/attach-frame.js';
import type { Gap, ProcessEvent, Stream } from '../protocol/output.js';
import { encodeOnce } from './shared-bytes.js';

const TEXT = 1;
const BINARY = 2;

/** Whole frames, to be written one after the other. They are copies: what they are made of is lent. */
export type Frames = readonly Uint8Array[];

/** How what happens is told to one viewer. */
export interface AttachForm {
  /** The frames of one batch; a gap that cannot be told in them ends the connection. */
  batch(events: ProcessEvent[]): Frames | Gap;
  /** The frame that paints a terminal as it was after the event `seq`. */
  paint(seq: number, bytes: Uint8Array): Uint8Array;
}

/** Bytes and nothing else. A hole at the start is told by a header, a later one cannot be. */
export class RawForm implements AttachForm {
  readonly #gap: Gap | null;

  constructor(gap: Gap | null) {
    this.#gap = gap;
  }

  batch(events: ProcessEvent[]): Frames | Gap {
    for (const event of events) {
      if (event.event !== 'gap' || event.to_seq === this.#gap?.to_seq) continue;
      const { event: _name, ...gap } = event;
      return gap;
    }
    return rawFrames(events);
  }

  paint(_seq: number, bytes: Uint8Array): Uint8Array {
    return wholeFrame(BINARY, bytes);
  }
}

/** Numbered chunks as binary messages, all else as text. */
export class NumberedForm implements AttachForm {
  #stream: Stream;

  /** @param tty whether the process has a terminal: its chunks are of the stream pty, else of stdout unless it is said */
  constructor(tty: boolean) {
    this.#stream = tty ? 'pty' : 'stdout';
  }

  batch(events: ProcessEvent[]): Frames {
    const frames = [numberedFrames[this.#stream](events)];
    for (const event of events) if (event.event === 'output') this.#stream = event.stream;
    return frames;
  }

  paint(seq: number, bytes: Uint8Array): Uint8Array {
    return chunkFrame(seq, bytes);
  }
}

/** One control message as a frame. */
export const textFrame = (event: AttachEvent): Uint8Array => wholeFrame(TEXT, Buffer.from(JSON.stringify(event)));

const rawFrames = encodeOnce((events: ProcessEvent[]): Frames => {
  const chunks = events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []));
  return chunks.length === 0 ? [] : [wholeFrame(BINARY, ...chunks)];
});

/** Viewers at the same place share the frames, as long as they know of the same stream. */
const numberedFrames: Record<Stream, (events: ProcessEvent[]) => Uint8Array> = {
  stdout: encodeOnce((events) => numbered(events, 'stdout')),
  stderr: encodeOnce((events) => numbered(events, 'stderr')),
  pty: encodeOnce((events) => numbered(events, 'pty')),
};

function numbered(events: ProcessEvent[], known: Stream): Uint8Array {
  const frames: Uint8Array[] = [];
  let stream = known;
  for (const event of events) {
    if (event.event !== 'output') {
      const { event: type, ...data } = event;
      frames.push(textFrame({ type, ...data } as AttachEvent));
      continue;
    }
    if (event.stream !== stream) frames.push(textFrame({ type: 'stream', stream: event.stream }));
    stream = event.stream;
    frames.push(chunkFrame(event.seq, event.chunk));
  }
  return frames.length === 1 ? (frames[0] as Uint8Array) : Buffer.concat(frames);
}

function chunkFrame(seq: number, chunk: Uint8Array): Uint8Array {
  const { frame, at } = newFrame(BINARY, ATTACH_HEAD_BYTES + chunk.length);
  setAttachNumber(frame, seq, at);
  frame.set(chunk, at + ATTACH_HEAD_BYTES);
  return frame;
}

function wholeFrame(opcode: number, ...parts: Uint8Array[]): Uint8Array {
  const { frame, at } = newFrame(
    opcode,
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let end = at;
  for (const part of parts) {
    frame.set(part, end);
    end += part.length;
  }
  return frame;
}

/** An unmasked frame (RFC 6455 §5.2) for so many bytes, which go to `at`. */
function newFrame(opcode: number, length: number): { frame: Buffer; at: number } {
  const at = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(at + length);
  writeHead(frame, opcode, length);
  return { frame, at };
}

function writeHead(frame: Buffer, opcode: number, length: number): void {
  frame[0] = 0x80 | opcode;
  if (length < 126) {
    frame[1] = length;
  } else if (length < 65_536) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
}
