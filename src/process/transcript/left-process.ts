import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Exit } from '../../protocol/index.js';
import { type LeftSegment, leftSegment } from './left-segment.js';
import { type Begun, type Closed, type Exited, leftRecord, type ProcessFacts, type Started } from './process-record.js';

/**
 * Events that may have been told and are not on disk, at most: a number that no program reaches in the moments that output
 * takes to the disk, nor in hours of a disk that fails. The numbers of what was told before are never given to anything else.
 */
const UNTOLD_EVENTS = 1_000_000_000;

/** What is shown of the end of a program that nobody saw: that of a kill. Its reason, `lost`, says that it is not known. */
const UNSEEN_EXIT: Exit = { exit_code: 137, signal: 'SIGKILL' };

/** All that is known of a process that is over. */
export type EndedFacts = Begun & Partial<Started> & Exited & Closed;

/** A process that an earlier program left behind. */
export interface LeftProcess {
  process_id: string;
  facts: EndedFacts;
  /** Whether it was not closed by then. */
  lost: boolean;
  /** Whether its record does not say yet how it ended. */
  concluded: boolean;
  /** How much of its record is good, in bytes. */
  record_bytes: number;
  /** Oldest first. */
  segments: LeftSegment[];
}

/** What of an id is left without one: whether the id may be used. */
export type LeftId = 'free' | 'spent';

const SEGMENT = /^([1-9]\d*)-(\d+)$/;

/**
 * Reads what is left of a process.
 * @throws what the system says
 */
export function leftProcess(dir: string, process_id: string): LeftProcess | LeftId {
  const { facts, size, unwritten } = leftRecord(dir);
  const segments = leftSegments(dir, facts !== null && isEnded(facts));
  if (facts === null) return unwritten && segments.length === 0 ? 'free' : 'spent';
  if (isEnded(facts)) return { process_id, facts, lost: false, concluded: false, record_bytes: size, segments };
  return { process_id, ...ending(facts, segments), concluded: true, record_bytes: size, segments };
}

function isEnded(facts: ProcessFacts): facts is EndedFacts {
  return facts.exited !== undefined && facts.closed_seq !== undefined;
}

/** How a process has ended that nobody said so of: as its output tells, or unseen. */
function ending(facts: ProcessFacts, segments: readonly LeftSegment[]): { facts: EndedFacts; lost: boolean } {
  const now = new Date().toISOString();
  const last = segments.at(-1);
  const seen = facts.exited ?? last?.exited ?? null;
  const closed_seq = last?.closed_seq ?? null;
  const next_seq = last?.segment.next_seq ?? 1;
  const lost = seen === null || closed_seq === null;
  const untold_seq = Math.max(next_seq - 1, seen?.seq ?? 0) + UNTOLD_EVENTS;
  const exited = seen ?? { ...UNSEEN_EXIT, seq: untold_seq + 1 };
  return {
    lost,
    facts: {
      ...facts,
      exited,
      exited_at: facts.exited_at ?? now,
      reason: facts.reason ?? (seen === null ? 'lost' : seen.signal === null ? 'exited' : 'signaled'),
      closed_seq: lost ? Math.max(untold_seq, exited.seq) + 1 : closed_seq,
      closed_at: now,
      total_bytes: last?.segment.bytes_after ?? 0,
      accepted_bytes: 0,
      tty: facts.tty,
      ...(lost ? { lost_seq: next_seq } : {}),
    },
  };
}

/** @param ended whether it is known how the process has ended: else the last file may tell, though it has an end */
function leftSegments(dir: string, ended: boolean): LeftSegment[] {
  const files = readdirSync(dir).flatMap((name) => {
    const [, first_seq, bytes_before] = SEGMENT.exec(name) ?? [];
    return first_seq === undefined ? [] : [{ path: join(dir, name), first_seq: Number(first_seq), bytes_before: Number(bytes_before) }];
  });
  files.sort((a, b) => a.first_seq - b.first_seq);
  const left = files.flatMap(({ path, first_seq, bytes_before }, i) => {
    try {
      return [leftSegment(path, first_seq, bytes_before, !ended && i === files.length - 1)];
    } catch {
      return []; // what cannot be read is missing
    }
  });
  // A clock that was set back, or a copy of the directory, makes none older than the one before it.
  for (const [i, file] of left.entries()) file.written_at_ms = Math.max(file.written_at_ms, left[i - 1]?.written_at_ms ?? 0);
  // What a write that failed left behind was written again in the next file.
  for (const [i, { segment }] of left.entries()) segment.cut(left[i + 1]?.segment.first_seq ?? segment.next_seq);
  return left.filter(({ segment }) => segment.next_seq > segment.first_seq || remove(segment.path));
}

function remove(path: string): false {
  try {
    unlinkSync(path);
  } catch {
    // it goes with its process
  }
  return false;
}
