import { Readable } from 'node:stream';
import { Files } from '../client/files.js';
import { RemoteFileSystem } from '../client/remote-file-system.js';
import { retrySettings } from '../client/retry.js';
import { Environment } from '../environment.js';
import { standardStream } from '../standard-stream.js';
import { remote } from './connect.js';
import { Copier, type CopyOrder } from './copier.js';
import { CopyFailure } from './copy-failure.js';
import { CopyProgress } from './copy-progress.js';
import { NOTHING, sum, type Tally, tallyText } from './copy-tally.js';
import type { CpOptions } from './cp-options.js';
import { type Operand, readOperand } from './operand.js';
import { StandardStreams } from './standard-streams.js';
import { readCallToken, SettingError } from './token.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Copies, tells on stderr what could not be copied, and leaves 0 or 1 as the exit code. A signal ends it, without litter.
 * @throws {SettingError} for words that cannot be used together
 */
export async function cp(words: string[], options: CpOptions): Promise<void> {
  const operands = words.map((word) => readOperand(word, process.cwd()));
  check(operands, options);
  const gateways = connect(options);
  const stop = new AbortController();
  const end = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of SIGNALS) process.once(signal, end);
  const progress = new CopyProgress(isShown(operands) ? process.stderr : null);
  const standard = new StandardStreams(process.stdin, process.stdout.isTTY ? process.stdout : standardStream(1));
  const { recursive = false, parents = false, json = false } = options;
  const failed: CopyFailure[] = [];
  const fail = (failure: CopyFailure) => {
    failed.push(failure);
    progress.clear();
    process.stderr.write(`exec-gateway cp: ${failure.line}\n`);
  };
  const order = { ...gateways, standard, recursive, parents, several: operands.length > 2, progress, signal: stop.signal, fail };
  await run(operands, order, failed, json);
  progress.close();
  for (const signal of SIGNALS) process.off(signal, end);
  // Whoever started it learns that it was ended, and not that it failed.
  if (stop.signal.aborted) process.kill(process.pid, stop.signal.reason);
}

async function run(operands: Operand[], order: CopyOrder, failed: CopyFailure[], json: boolean): Promise<void> {
  const copier = new Copier(order);
  const destination = operands.at(-1) as Operand;
  const began = performance.now();
  let copied: Tally = NOTHING;
  let whole = 0;
  for (const source of operands.slice(0, -1)) {
    try {
      copied = sum(copied, await copier.copy(source, destination));
      whole++;
    } catch (error) {
      if (order.signal.aborted) return;
      if (!(error instanceof CopyFailure)) throw error;
      order.fail(error);
    }
  }
  const duration_ms = Math.round(performance.now() - began);
  if (failed.length > 0) process.exitCode = 1;
  if (json) await print(order.standard, `${JSON.stringify({ ...copied, duration_ms, failed: failed.map(told) })}\n`);
  else if (whole > 0) order.progress.say(tallyText(copied, duration_ms));
}

async function print(standard: StandardStreams, text: string): Promise<void> {
  try {
    await standard.write(Readable.from([Buffer.from(text)]), new AbortController().signal);
  } catch (error) {
    process.stderr.write(`exec-gateway cp: stdout cannot be written: ${(error as Error).message}.\n`);
    process.exitCode = 1;
  }
}

const told = ({ operand, code, message }: CopyFailure) => ({ path: operand.shown, code, detail: message });

function check(operands: Operand[], { json, toUrl, toTokenFile }: CpOptions): void {
  const sources = operands.slice(0, -1);
  const destination = operands.at(-1);
  const standard = operands.filter(({ kind }) => kind === 'standard').length;
  if (destination === undefined || sources.length === 0) throw new SettingError('cp needs what to copy, and where to: cp SRC... DST.');
  if (standard > 1 || (standard === 1 && operands.length > 2))
    throw new SettingError('"-" goes with one path of the gateway and no other.');
  if (operands.some(({ shown }) => shown === ''))
    throw new SettingError('A path is empty: "." is this directory, ":" the file root of the gateway.');
  if (destination.kind !== 'remote' && sources.some(({ kind }) => kind !== 'remote'))
    throw new SettingError('Neither path is of a gateway: begin one with a colon, as in :/srv/file.');
  if (json && destination.kind === 'standard') throw new SettingError('--json would mix with what goes to "-": leave it out.');
  if (toUrl === undefined && toTokenFile !== undefined) throw new SettingError('--to-token-file is for --to-url: give that too.');
  if (toUrl !== undefined && destination.kind !== 'remote') throw new SettingError('--to-url is for a DST that begins with a colon.');
}

function connect({ url, tokenFile, toUrl, toTokenFile }: CpOptions): Pick<CopyOrder, 'from' | 'to'> {
  const here = new Files(Environment.create().files, retrySettings());
  const token = readCallToken(tokenFile, '--token-file', process.env.EXEC_GATEWAY_TOKEN);
  const remote = filesOf(url, token);
  const other = toUrl === undefined ? remote : filesOf(toUrl, readCallToken(toTokenFile, '--to-token-file', token));
  return { from: { here, remote }, to: { here, remote: other } };
}

const filesOf = (url: string, token: string | undefined) =>
  remote((options) => new Files(new RemoteFileSystem(options), retrySettings()), url, token);

/** Progress is for a person who watches: not in the way of what is printed, and not into a file. */
function isShown(operands: Operand[]): boolean {
  const prints = operands.at(-1)?.kind === 'standard' && process.stdout.isTTY;
  return process.stderr.isTTY && !prints;
}
