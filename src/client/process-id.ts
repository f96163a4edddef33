/** A process id of 128 random bits. (`crypto.randomUUID` is missing in pages that came over plain HTTP.) */
export function newProcessId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
