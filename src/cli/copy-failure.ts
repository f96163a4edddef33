import { GatewayError } from '../protocol/index.js';
import { advised, UNREACHABLE } from './call-failure.js';
import type { Operand } from './operand.js';

/** What to do about an error, where its own words do not say it. */
const ADVICE: Record<string, string> = {
  access_denied: 'look at its owner and mode, and at those of the directories above it.',
  path_not_found: 'look at the path; --parents makes the directories above a destination.',
  not_regular_file: 'pipe it through "-" instead.',
  unsafe_archive_entry: 'where the destination has a link in place of a directory, remove the link.',
  upstream_unreachable: UNREACHABLE,
};

/** A copy that failed, and at which end of it. */
export class CopyFailure extends Error {
  override readonly name = 'CopyFailure';
  /** The error's name in the table of errors, or the system's (`EPIPE`). */
  readonly code: string;
  readonly operand: Operand;

  constructor(operand: Operand, code: string, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.operand = operand;
    this.code = code;
  }

  /** One line: what, why, its code, and what to do. */
  get line(): string {
    return `${this.operand.shown}: ${advised(this, ADVICE)}`;
  }
}

/** Something in a tree that may not be read. */
export function unreadableFailure(tree: Operand, path: string, code: string): CopyFailure {
  const plain = path.replace(/\p{Cc}/gu, '?');
  const why = code === 'access_denied' ? 'the system does not permit to read it' : 'the system could not read it';
  return new CopyFailure({ ...tree, shown: `${tree.shown.replace(/\/+$/, '')}/${plain}` }, code, `${why}.`);
}

/** Waits for a call at one end of a copy; what it fails with is told as the failure of that end. */
export async function at<T>(operand: Operand, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw failureOf(operand, error);
  }
}

/** The bytes of one end of a copy; what they fail with is told as the failure of that end. */
export async function* bytesAt(operand: Operand, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    throw failureOf(operand, error);
  }
}

/** What is neither the gateway's refusal nor the system's passes: it is a fault of ours, or the reason why all is given up. */
function failureOf(operand: Operand, error: unknown): unknown {
  if (error instanceof GatewayError) return new CopyFailure(operand, error.code, detailOf(operand, error), { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof CopyFailure || !(error instanceof Error) || !/^E[A-Z0-9]+$/.test(code ?? '')) return error;
  return new CopyFailure(operand, code as string, code === 'EPIPE' ? 'whoever reads it has left.' : `${message}.`, { cause: error });
}

function detailOf({ kind }: Operand, { code, message, fields, cause }: GatewayError): string {
  if (code === 'unauthorized')
    return 'the gateway does not take this token, or it was given none: set EXEC_GATEWAY_TOKEN, or give --token-file (--to-token-file).';
  const own = kind === 'remote' || code !== 'access_denied';
  const detail = own ? message : `the system does not permit it (${(cause as NodeJS.ErrnoException | undefined)?.code ?? 'EACCES'}).`;
  const files = fields.unpacked?.files ?? 0;
  return files === 0 ? detail : `${detail} Copied before: ${files} ${files === 1 ? 'file' : 'files'}.`;
}
