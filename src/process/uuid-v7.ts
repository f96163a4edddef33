import { randomUUID } from 'node:crypto';

/** A new UUID version 7 (RFC 9562 §5.7): its beginning is the time, so ids sort by age. */
export function uuidV7(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomUUID(); // version 4 from a pool: the variant and 74 random bits stay
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
