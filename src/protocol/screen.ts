import { type Static, Type } from '@sinclair/typebox';
import { Count, Nullable, Strict } from './schema.js';
import { ProcessId, TtySize } from './start.js';

/** What a terminal shows. */
export const Screen = Strict(
  {
    process_id: ProcessId,
    ...TtySize.properties,
    cursor: Strict({
      row: Count('Counted from 0.'),
      col: Count('Counted from 0; equal to cols behind a full line.'),
      visible: Type.Boolean(),
    }),
    title: Nullable(Type.String({ description: 'The title of the window, when the program has set one.' })),
    alternate: Type.Boolean({ description: 'Whether it is the alternate screen, as of editors and pagers.' }),
    text: Type.String({ description: 'The lines, without blanks at their ends and without empty lines at the end.' }),
    paint: Nullable(
      Type.String({
        description:
          'With paint=true: base64 of what makes a terminal of this size show exactly this, its modes included. Follow with after_seq = next_seq - 1.',
      }),
    ),
    next_seq: Count('All events before this one are on the screen.', { minimum: 1 }),
    complete: Type.Boolean({
      description:
        'False when output is missing that was no longer held: parts of the screen may then be wrong until the program draws them anew.',
    }),
  },
  { description: 'What a terminal shows.' },
);
export type Screen = Static<typeof Screen>;

/** {@link Screen} inside the program: bytes as they are. */
export interface ScreenOutput extends Omit<Screen, 'paint'> {
  paint: Uint8Array | null;
}
