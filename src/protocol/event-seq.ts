/** The number up to which an event tells: its own, or the last that a gap stands for. */
export function seqOf(event: { event: 'gap'; to_seq: number } | { event: 'output' | 'exited' | 'closed'; seq: number }): number {
  return event.event === 'gap' ? event.to_seq : event.seq;
}
