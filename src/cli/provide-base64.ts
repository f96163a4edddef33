import { decodeBase64, decodedLength } from '../protocol/base64.js';

/** Gives a Node that has no `Uint8Array.fromBase64` (ECMA-262) one on its own decoder, which is ten times as fast as ours. */
export function provideBase64(): void {
  const engine = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  engine.fromBase64 ??= fromBase64;
}

function fromBase64(text: string): Uint8Array {
  const length = decodedLength(text);
  if (!Number.isSafeInteger(length) || length < 0) return decodeBase64(text);
  const bytes = Buffer.allocUnsafeSlow(length);
  // Node passes over what is no base64. Then some is missing, and the strict decoder says what is wrong.
  return bytes.write(text, 'base64') === length ? new Uint8Array(bytes.buffer, 0, length) : decodeBase64(text);
}
