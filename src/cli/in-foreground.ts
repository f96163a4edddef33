import { OWN_FAILURE } from './call-failure.js';
import type { ConnectionNotice } from './connection-notice.js';
import { keysText } from './detach-keys.js';
import type { Foreground, Outcome, Sink } from './foreground.js';
import { leave } from './leave.js';
import type { LocalOutput } from './local-output.js';
import { type LocalTerminal, localSize, onResize } from './local-terminal.js';
import { SignalRelay, signalCode } from './signal-relay.js';
import type { TypedInput } from './typed-input.js';

/** What a program is told that writes where nobody reads (128 + SIGPIPE). */
const PIPE_CODE = signalCode('SIGPIPE');

/** What a program is told that Ctrl-C ended. */
const INTERRUPTED_CODE = signalCode('SIGINT');

/** How long a process has that ignores SIGPIPE, in milliseconds: nobody reads what it prints. */
const PIPE_GRACE_MS = 2_000;

/** Why a signal ended a process, where neither it nor a person here is the reason. */
const REASONS: Record<string, string> = {
  timed_out: 'ended by its --timeout',
  shutdown: 'the gateway ended, and ended it first',
  gone: 'the gateway is out of reach: it may have ended, and ended it first',
  lost: 'the host of its gateway died',
};

/** How a process in the foreground is seen and driven from here. */
export interface View {
  output: LocalOutput;
  /** Where its output goes: `output`, unless it is collected. */
  sink: Sink;
  notice: ConnectionNotice;
  /** The terminal that it owns while it is in the foreground. */
  terminal: LocalTerminal | null;
  input: TypedInput | null;
  /** Whether the process's terminal takes on the size of the one here. */
  resizes: boolean;
  /** Whether signals of this program are the process's; else they leave it. */
  pass_signals: boolean;
}

/**
 * Has a process in the foreground until it ends or is left.
 * @returns the exit code for this program
 * @throws {GatewayError} when the gateway stays out of reach, or does not know the process any more
 */
export async function inForeground(foreground: Foreground, view: View): Promise<number> {
  const { output, sink, notice, terminal, input, resizes, pass_signals } = view;
  const raw = terminal !== null;
  notice.connected = true;
  if (terminal) notice.leave_by = `Ctrl-C ${input?.keys.length ? `or ${keysText(input.keys)} ` : ''}leaves it running`;
  const release = () => {
    terminal?.restore();
    output.raw = false;
  };
  const relay = new SignalRelay(foreground, {
    raw,
    pass: pass_signals,
    lost: () => notice.lost,
    say: output.say,
    leave: (code) => {
      release();
      void leave(output, code);
    },
  });
  output.onBroken = () => readerGone(foreground, pass_signals);
  if (resizes) notice.onBackAgain = () => repaint(foreground, output);
  if (terminal) {
    terminal.makeRaw();
    output.raw = true;
    // Every key is data on it, so nobody typed this end.
    for (const over of ['end', 'error']) input?.source.once(over, () => relay.hangUp());
  }
  const stopResizing = foreground.tty && resizes ? onResize((size) => void foreground.resize(size)) : () => {};
  try {
    const outcome = await foreground.follow(sink, input);
    const told = outcome.left === 'ended' && outcome.exit?.signal ? REASONS[(await foreground.reason()) ?? ''] : undefined;
    if (told !== undefined && pass_signals) output.say(told);
    const code = exitCode(outcome, foreground, view);
    return relay.ended_by ? signalCode(relay.ended_by) : code;
  } finally {
    stopResizing();
    relay.close();
    release();
  }
}

/** What a program learns by SIGPIPE when it prints on: its reader has left. */
function readerGone(foreground: Foreground, own: boolean): void {
  if (own) {
    void foreground.signal('SIGPIPE');
    setTimeout(() => void foreground.terminate(), PIPE_GRACE_MS).unref();
  } else foreground.detach();
}

/** A program that paints the whole screen paints it anew when its size changes. */
function repaint(foreground: Foreground, output: LocalOutput): void {
  const size = localSize();
  if (!output.full_screen || !size || size.rows < 2) return;
  void foreground.resize({ ...size, rows: size.rows - 1 });
  void foreground.resize(size);
}

function exitCode(outcome: Outcome, { process_id }: Foreground, { output, input, pass_signals }: View): number {
  if (input?.failure) output.say(`stdin cannot be read: ${input.failure.message}. It was ended there.`);
  if (output.failed) return OWN_FAILURE;
  if (output.reader_gone) return pass_signals ? PIPE_CODE : 0;
  if (outcome.left === 'detached') {
    output.say(`left; it goes on as ${process_id}: exec-gateway attach ${process_id}`);
    return outcome.interrupted && pass_signals ? INTERRUPTED_CODE : 0;
  }
  const { exit, closed } = outcome;
  if (!closed) output.say(`something that it started goes on, and holds its output: exec-gateway logs -f ${process_id}`);
  if (exit === null) {
    output.say(`how it ended is no longer known: exec-gateway wait ${process_id}`);
    return OWN_FAILURE;
  }
  return exit.exit_code === 0 && (output.incomplete || input?.failure) ? OWN_FAILURE : exit.exit_code;
}
