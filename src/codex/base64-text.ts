/** The base64 of a content, piece by piece: the pieces put together are that of the whole. */
export async function* toBase64Text(content: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const block of content) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, block]) : Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    const whole = bytes.length - (bytes.length % 3);
    if (whole > 0) yield bytes.toString('base64', 0, whole);
    rest = Buffer.from(bytes.subarray(whole)); // a copy: the block may be used again
  }
  if (rest.length > 0) yield rest.toString('base64');
}
