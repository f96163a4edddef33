/** Records of a pax header: `LENGTH KEY=VALUE\n`, the length in decimal and counting itself (POSIX.1-2017, pax). */
export function encodePax(records: Map<string, Buffer>): Buffer {
  return Buffer.concat([...records].map(([key, value]) => record(key, value)));
}

/** @returns null when the bytes are no such records */
export function decodePax(bytes: Buffer): Map<string, Buffer> | null {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const digits = space < 0 || space - at > 10 ? '' : bytes.toString('latin1', at, space);
    if (!/^\d+$/.test(digits)) return null;
    const end = at + Number(digits);
    const equals = bytes.indexOf('=', space);
    if (end > bytes.length || bytes[end - 1] !== 0x0a || equals < 0 || equals >= end) return null;
    records.set(bytes.toString('latin1', space + 1, equals), bytes.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}

function record(key: string, value: Buffer): Buffer {
  const rest = key.length + value.length + 3;
  let length = rest + `${rest}`.length;
  if (`${length}`.length > `${rest}`.length) length = rest + `${length}`.length;
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from('\n')]);
}
