import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';

/** What the rows of a table are sorted by. */
interface Sorting<Key> {
  sort: Key;
  descending: boolean;
}

interface SortHeadsProps<Key, Query> {
  /** The class of the rows. */
  row: string;
  columns: [Key, string][];
  /** Columns that nothing is sorted by, after the others. */
  plain?: [string, string][];
  query: Signal<Query>;
  /** Columns whose small values are wanted first. */
  ascending: Key[];
}

/** The heads of a table, with one for the actions; each sorts the table by its column, and once more the other way round. */
export function SortHeads<Key extends string, Query extends Sorting<Key>>(props: SortHeadsProps<Key, Query>): JSX.Element {
  const { row, columns, plain = [], query, ascending } = props;
  const { sort, descending } = query.value;
  const turn = (name: Key) => {
    query.value = { ...query.value, sort: name, descending: sort === name ? !descending : !ascending.includes(name) };
  };
  return (
    <div class="heads" role="rowgroup">
      <div class={row} role="row" aria-rowindex={1}>
        {columns.map(([name, word]) => (
          <Head
            key={name}
            name={name}
            word={word}
            order={sort === name ? (descending ? 'descending' : 'ascending') : 'none'}
            onTurn={turn}
          />
        ))}
        {plain.map(([name, word]) => (
          <span key={name} class={`cell plain ${name}`} role="columnheader">
            {word}
          </span>
        ))}
        <span role="columnheader">
          <span class="hidden">Actions</span>
        </span>
      </div>
    </div>
  );
}

const ARROWS = { ascending: '↑', descending: '↓', none: '' };

interface HeadProps<Key> {
  name: Key;
  word: string;
  order: keyof typeof ARROWS;
  onTurn: (name: Key) => void;
}

function Head<Key extends string>({ name, word, order, onTurn }: HeadProps<Key>): JSX.Element {
  return (
    <span class={`cell ${name}`} role="columnheader" aria-sort={order}>
      <button type="button" class="head" onClick={() => onTurn(name)}>
        {word}
        <span class="order" aria-hidden="true">
          {ARROWS[order]}
        </span>
      </button>
    </span>
  );
}
