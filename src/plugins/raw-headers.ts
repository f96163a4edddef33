/** How often a header came, by its lower-case name: Node keeps only the first of several Host or Authorization headers. */
export function headerCount(rawHeaders: string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const key = rawHeaders[i] as string;
    if (key.length === name.length && key.toLowerCase() === name) count += 1;
  }
  return count;
}
