import type { AttachError } from './attach.js';
import { GatewayError } from './error.js';

/** The subprotocol of an attached WebSocket that tells more than bytes. */
export const ATTACH_PROTOCOL = 'exec-gateway.v1';

/** Bytes ahead of the payload of a binary message: the seq of a chunk, or the offset of input, big-endian. */
export const ATTACH_HEAD_BYTES = 8;

/** The number ahead of a binary message; null when it is none that this side can count to. */
export function attachNumber(message: Uint8Array): number | null {
  if (message.length < ATTACH_HEAD_BYTES) return null;
  const view = new DataView(message.buffer, message.byteOffset, ATTACH_HEAD_BYTES);
  const number = view.getUint32(0) * 2 ** 32 + view.getUint32(4);
  return Number.isSafeInteger(number) ? number : null;
}

/** Writes the number ahead of a binary message. */
export function setAttachNumber(message: Uint8Array, number: number, at = 0): void {
  const view = new DataView(message.buffer, message.byteOffset + at, ATTACH_HEAD_BYTES);
  view.setUint32(0, Math.floor(number / 2 ** 32));
  view.setUint32(4, number % 2 ** 32);
}

/** How a connection ends that an error ends: its close code is 4000 and the status. */
export const attachCloseCode = (error: GatewayError): number => 4000 + error.status;

/** An error as it was told on a connection; null when it is none of ours. */
export function attachError(message: unknown): GatewayError | null {
  const { type: _type, about: _about, ...problem } = message as AttachError;
  return GatewayError.fromProblem(problem);
}
