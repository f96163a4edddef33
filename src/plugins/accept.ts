/**
 * The media type a caller likes best of those offered (RFC 9110 §12.5.1); the earlier offer wins a draw.
 * @returns null when none is acceptable
 */
export function preferredType<const T extends string>(accept: string | undefined, offers: readonly T[]): T | null {
  if (accept === undefined || accept.trim() === '') return offers[0] ?? null;
  const ranges = accept.split(',').map(range);
  let best: T | null = null;
  let best_quality = 0;
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges);
    if (quality > best_quality) [best, best_quality] = [offer, quality];
  }
  return best;
}

function range(text: string): { type: string; quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const quality = given === undefined ? 1 : Number(given);
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 1 };
}

/** The most specific range that covers the type decides. */
function qualityOf(offer: string, ranges: { type: string; quality: number }[]): number {
  const family = `${offer.split('/', 1)[0]}/*`;
  for (const wanted of [offer, family, '*/*']) {
    const found = ranges.find(({ type }) => type === wanted);
    if (found) return found.quality;
  }
  return 0;
}
