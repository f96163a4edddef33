import type { JSX } from 'preact';

/** Text of the spec: paragraphs, `code`, and tables of lines that begin with a bar. All else is shown as it stands. */
export function Prose({ text }: { text: string }): JSX.Element {
  const parts = text.trim().split(/\n{2,}/);
  return (
    <div class="prose">
      {parts
        .filter((part) => part !== '')
        .map((part, index) =>
          part.startsWith('|') ? <ProseTable key={index} lines={part.split('\n')} /> : <p key={index}>{inline(part)}</p>,
        )}
    </div>
  );
}

/** A text with its code set apart. */
export function inline(text: string): JSX.Element[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : <span key={index}>{part}</span>));
}

function ProseTable({ lines }: { lines: string[] }): JSX.Element {
  const [head = [], , ...rows] = lines.map(cellsOf);
  return (
    <div class="table-room">
      <table class="plain-table">
        <thead>
          <tr>
            {head.map((cell) => (
              <th key={cell} scope="col">
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{inline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cellsOf = (line: string) =>
  line
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
