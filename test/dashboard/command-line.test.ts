import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinCommand, splitCommand } from '../../web/command-line.js';

test.each([
  ['ls -l /tmp', ['ls', '-l', '/tmp']],
  ['  echo \'a  b\'\t"c d" \n', ['echo', 'a  b', 'c d']],
  ['grep -e "a\\"b\\\\c" x\\ y', ['grep', '-e', 'a"b\\c', 'x y']],
  ['printf \'\' ""', ['printf', '', '']],
  ['a\'b\'"c"d', ['abcd']],
  ['"a\\x$HOME"', ['a\\x$HOME']],
  ['one\\\ntwo', ['onetwo']],
])('%j is typed for its words', (text, argv) => {
  expect(splitCommand(text)).toMatchObject({ argv });
});

test('what a shell would expand or obey is named, unless it is quoted', () => {
  expect(splitCommand('ls *.ts \'*.js\' \\$A "$B" | wc')).toMatchObject({ shell_words: ['*.ts', '$B', '|'] });
});

test.each(["echo 'a", 'echo "a', 'echo a\\', '', ' \n'])('%j has no words', (text) => {
  expect(splitCommand(text)).toEqual({ error: expect.any(String) });
});

test('any words, written as a command line, are read as the same words', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (argv) => {
      expect(splitCommand(joinCommand(argv))).toMatchObject({ argv });
    }),
  );
});
