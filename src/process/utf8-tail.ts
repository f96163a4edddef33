/**
 * Length in bytes (0 to 3) of an unfinished UTF-8 character at the end of `bytes` (RFC 3629 §3). Bytes that can be no
 * character's beginning count as finished: they are not UTF-8, and waiting would not make them so.
 */
export function utf8Tail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    return characterLength(byte) > back && plausible(bytes, bytes.length - back) ? back : 0;
  }
  return 0;
}

function characterLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** Whether the second byte, when there is one, is in the range that the lead byte allows (RFC 3629 §4). */
function plausible(bytes: Uint8Array, at: number): boolean {
  const second = bytes[at + 1];
  if (second === undefined) return true;
  const lead = bytes[at];
  if (lead === 0xe0) return second >= 0xa0;
  if (lead === 0xed) return second <= 0x9f;
  if (lead === 0xf0) return second >= 0x90;
  if (lead === 0xf4) return second <= 0x8f;
  return true;
}
