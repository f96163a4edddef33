import { type Static, type TObject, Type } from '@sinclair/typebox';
import { SignalRequest } from './control.js';
import { ERRORS, type ErrorCode, type ProblemFields } from './error.js';
import { ClosedData, ExitedData, Gap, Stream } from './output.js';
import { ProcessInfo } from './process.js';
import { Count, Nullable, Strict, Words } from './schema.js';
import { TtySize } from './start.js';

/** Control messages of a viewer, by their `type`. */
export const ATTACH_CONTROLS = {
  resize: Strict({ type: Type.Literal('resize'), ...TtySize.properties }),
  signal: Strict({ type: Type.Literal('signal'), ...SignalRequest.properties }),
  input: Strict(
    { type: Type.Literal('input'), offset: Count('Where the next input begins: accepted_bytes of the error.') },
    { description: 'Goes on with input after stdin_offset_behind: what was sent before it is passed over.' },
  ),
  eof: Strict({ type: Type.Literal('eof') }, { description: 'Closes stdin after the input so far (types ^D on a tty).' }),
  detach: Strict({ type: Type.Literal('detach') }, { description: 'Asks for the end of the connection; the process goes on.' }),
} satisfies Record<string, TObject>;

/** A control message of a viewer. */
export const AttachControl = Type.Union(Object.values(ATTACH_CONTROLS), { description: 'What a viewer sends as text.' });
export type AttachControl = {
  [Name in keyof typeof ATTACH_CONTROLS]: Static<(typeof ATTACH_CONTROLS)[Name]>;
}[keyof typeof ATTACH_CONTROLS];

const accepted_bytes = Count('Input accepted so far, in bytes: the offset of the next input.');

/** The first message: who is attached to what, and where. */
export const AttachHello = Strict({
  type: Type.Literal('hello'),
  process: ProcessInfo,
  accepted_bytes,
  after_seq: Count(
    'The cursor: what comes begins after it; with screen=true the message that paints the screen bears it, and an exited before it may come first.',
  ),
  read_only: Type.Boolean({ description: 'Whether input and control are refused.' }),
  gap: Nullable(Gap),
});
export type AttachHello = Static<typeof AttachHello>;

/** A refusal of something the viewer sent, or the reason of an end; the fields are those of an error reply. */
export const AttachError = Type.Object(
  {
    type: Type.Literal('error'),
    about: Words(['input', 'resize', 'signal', 'eof', 'detach', 'message', 'output'], { description: 'What was refused or failed.' }),
    code: Words(Object.keys(ERRORS)),
    detail: Type.String(),
    field: Type.Optional(Type.String()),
    accepted_bytes: Type.Optional(accepted_bytes),
  },
  { description: 'Further fields are those of an error reply.' },
);
export type AttachError = Omit<Static<typeof AttachError>, 'code'> & { code: ErrorCode } & ProblemFields;

/** What an error was about. */
export type AttachAbout = AttachError['about'];

/** A control message of the gateway. */
export const AttachEvent = Type.Union(
  [
    AttachHello,
    Strict({ type: Type.Literal('stream'), stream: Stream }, { description: 'What follows is of this stream; at first pty or stdout.' }),
    Strict({ type: Type.Literal('accepted'), accepted_bytes }, { description: 'Input of this viewer was accepted.' }),
    Strict({ type: Type.Literal('exited'), ...ExitedData.properties }),
    Strict({ type: Type.Literal('closed'), ...ClosedData.properties }),
    Strict({ type: Type.Literal('gap'), ...Gap.properties }),
    AttachError,
  ],
  { description: 'What the gateway sends as text.' },
);
export type AttachEvent = Exclude<Static<typeof AttachEvent>, { type: 'error' }> | AttachError;
