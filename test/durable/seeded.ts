/** Numbers that look like chance and are the same for the same seed: whole ones, from 1 to `most` (Tommy Ettinger's mulberry32). */
export function seeded(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return 1 + (((mixed ^ (mixed >>> 14)) >>> 0) % most);
  };
}
