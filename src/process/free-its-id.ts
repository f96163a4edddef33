import { GatewayError } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';

/** What a caller who finds a process ended may do about its id. */
export const FREE_ITS_ID = 'DELETE /processes/{process_id}?purge=true frees its id while its record is kept; a forgotten one stays spent.';

/** @param why what the id stands for already */
export function idExists(process_id: string, why: string): GatewayError {
  return new GatewayError('process_exists', `The id ${quoted(process_id)} ${why}: choose another, or leave process_id out.`, {
    process_id,
  });
}
