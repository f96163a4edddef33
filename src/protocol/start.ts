import { type Static, Type } from '@sinclair/typebox';
import {
  DEFAULT_RETAIN_BYTES,
  MAX_ARGUMENTS,
  MAX_CWD_CHARACTERS,
  MAX_LABELS,
  MAX_RETAIN_BYTES,
  MAX_TIMEOUT_MS,
  MAX_VARIABLES,
} from './limits.js';
import { Count, Nullable, Strict, Words } from './schema.js';

/** The key of a process in this gateway, chosen by the caller or made up as a UUIDv7. `.` and `..` are refused. */
export const ProcessId = Type.String({
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._:-]{1,128}$',
  description: 'The key of a process: 1 to 128 of A-Z a-z 0-9 . _ : -, but not "." or "..".',
});

const Cells = (what: string) => Count(`${what} of the terminal.`, { minimum: 1, maximum: 65_535 });

/** A terminal's size in character cells. */
export const TtySize = Strict({ cols: Cells('Columns'), rows: Cells('Rows') });
export type TtySize = Static<typeof TtySize>;

const Tty = Type.Union(
  [
    Type.Boolean(),
    Strict({
      cols: Type.Optional(Cells('Columns')),
      rows: Type.Optional(Cells('Rows')),
      term: Type.Optional(
        Nullable(Type.String({ minLength: 1, maxLength: 128, description: 'TERM, unless env gives one; null sets none.' })),
      ),
    }),
  ],
  { description: 'Run on a terminal: true, or its size and type. Default false; 80 x 24, xterm-256color.' },
);

/** Variables: any names but for what the core refuses. The pattern is spelt out, since that of a plain string record passes over line breaks. */
const Variables = (description: string) =>
  Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), Type.String(), { maxProperties: MAX_VARIABLES, description });

const Globs = (what: string) => Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 256, description: what });

/** How the environment below `env` is made: inherit, exclude, set, include_only, in this order. */
export const EnvPolicy = Strict(
  {
    inherit: Type.Optional(
      Words(['core', 'none', 'all'], {
        default: 'core',
        description: "What is taken from the gateway's environment: core is PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR.",
      }),
    ),
    ignore_case: Type.Optional(Type.Boolean({ default: false, description: 'Whether the globs match in any case.' })),
    exclude: Type.Optional(Globs('Names to leave out; * and ? match, case counts unless ignore_case is given.')),
    set: Type.Optional(Variables('Variables to set.')),
    include_only: Type.Optional(Globs('When given, only names that match one of these stay.')),
  },
  { description: 'How the base environment is made, before env is laid over it.' },
);
export type EnvPolicy = Static<typeof EnvPolicy>;

/** Caller's words on a process, to find it by. A key holds no "=". */
export const Labels = Type.Record(Type.String({ pattern: '^[^=\\u0000-\\u001f]{1,128}$' }), Type.String({ maxLength: 1024 }), {
  maxProperties: MAX_LABELS,
  additionalProperties: false,
  description: `Up to ${MAX_LABELS} labels; keys of 1 to 128 characters without "=", values of up to 1,024.`,
});

/** The fields of a start, shared by `POST /processes`, `PUT /processes/{process_id}` and `POST /run`. */
export const startFields = {
  argv: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MAX_ARGUMENTS,
    description: 'The program and its arguments, as the program sees them. No shell is added.',
  }),
  process_id: Type.Optional(ProcessId),
  cwd: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_CWD_CHARACTERS, description: "Working directory. Default: the gateway's." }),
  ),
  env: Type.Optional(Variables('Variables laid over the base environment.')),
  env_policy: Type.Optional(EnvPolicy),
  arg0: Type.Optional(Type.String({ description: 'What the program sees as argv[0]. Default: argv[0].' })),
  tty: Type.Optional(Tty),
  pipe_stdin: Type.Optional(
    Type.Boolean({ description: 'Keep stdin open for writes. Default false: without a tty stdin is at EOF from the start.' }),
  ),
  timeout_ms: Type.Optional(
    Count('End the process group after this many milliseconds. Default: never.', { minimum: 1, maximum: MAX_TIMEOUT_MS }),
  ),
  labels: Type.Optional(Labels),
  retain_bytes: Type.Optional(
    Count('Output kept in memory, in bytes; the newest chunk is always kept.', {
      minimum: 1,
      maximum: MAX_RETAIN_BYTES,
      default: DEFAULT_RETAIN_BYTES,
    }),
  ),
};

/** What to start. */
export const StartRequest = Strict(startFields, { description: 'What to start.' });
export type StartRequest = Static<typeof StartRequest>;
