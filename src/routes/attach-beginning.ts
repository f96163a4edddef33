import { GatewayError } from '../protocol/error.js';
import { seqOf } from '../protocol/event-seq.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import type { ExitedEvent } from '../protocol/output.js';
import type { ProcessInfo } from '../protocol/process.js';

/** Where a viewer begins, and what it is told before. */
export interface AttachBeginning {
  after_seq: number;
  /** What makes a terminal show all up to `after_seq`, when that was asked for. */
  paint: Uint8Array | null;
  /** The end of the program, when others have printed since: it is told before the painting. */
  exited: ExitedEvent | null;
}

/**
 * Where a viewer begins: after an event, or with the screen as it is and then with all that is not on it, which is also the end
 * of the process.
 * @throws {GatewayError} `invalid_request` for both, and as `screen` does
 */
export async function attachBeginning(
  processes: ExecProcess,
  process_id: string,
  { after_seq, screen = false }: { after_seq?: number; screen?: boolean },
  signal: AbortSignal,
): Promise<AttachBeginning> {
  if (!screen) return { after_seq: after_seq ?? 0, paint: null, exited: null };
  if (after_seq !== undefined) {
    const detail = 'screen=true begins with the screen as it is, after_seq with what was printed since then: give one of them.';
    throw new GatewayError('invalid_request', detail, { field: 'after_seq' });
  }
  const { paint, next_seq } = await processes.screen(process_id, { paint: true }, { signal });
  const shown_seq = next_seq - 1;
  const process = await processes.get(process_id, {}, { signal });
  if (process.exit_code === null) return { after_seq: shown_seq, paint, exited: null };
  const printed_seq = process.state === 'closed' && process.next_seq === next_seq ? shown_seq - 1 : shown_seq; // without `closed`
  const exited = await exitOf(processes, process, shown_seq, signal);
  if (exited === null || exited.seq > shown_seq) return { after_seq: printed_seq, paint, exited: null };
  if (exited.seq === printed_seq) return { after_seq: printed_seq - 1, paint, exited: null };
  return { after_seq: printed_seq, paint, exited };
}

/** The end of a program that has ended: it is among the last events, unless others print on. */
async function exitOf(
  processes: ExecProcess,
  { process_id, next_seq }: ProcessInfo,
  shown_seq: number,
  signal: AbortSignal,
): Promise<ExitedEvent | null> {
  for (const after_seq of new Set([Math.max(0, shown_seq - 2), 0])) {
    for await (const batch of await processes.follow(process_id, { after_seq }, { signal, lend: true })) {
      const exited = batch.find((event) => event.event === 'exited');
      if (exited) return exited;
      const last = batch.at(-1);
      if (last && seqOf(last) >= next_seq - 1) break;
    }
  }
  return null;
}
