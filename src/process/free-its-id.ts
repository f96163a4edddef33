/** What a caller who finds a process ended may do about its id. */
export const FREE_ITS_ID = 'DELETE /processes/{process_id}?purge=true frees its id while its record is kept; a forgotten one stays spent.';
