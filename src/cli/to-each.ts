import { failureLine } from './call-failure.js';
import type { LocalOutput } from './local-output.js';

/**
 * Does the same to several processes at once. One that fails is told, and holds up none of the others.
 * @param act resolves with a line when it was not done
 * @returns the exit code for this program: 1 when one failed, else 0
 */
export async function toEach(
  process_ids: string[],
  output: LocalOutput,
  act: (process_id: string) => Promise<string | null>,
): Promise<number> {
  const results = await Promise.allSettled(process_ids.map(act));
  const failed = results.flatMap((result, at) => {
    const why = result.status === 'rejected' ? failureLine(result.reason) : result.value;
    return why === null ? [] : [`${process_ids[at]}: ${why}`];
  });
  for (const line of failed) output.say(line);
  return failed.length > 0 ? 1 : 0;
}
