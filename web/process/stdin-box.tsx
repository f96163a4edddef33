import type { JSX, TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../ui/icon.js';
import { tellFailure } from '../ui/notices.js';
import type { OutputFeed } from './output-feed.js';

const MAX_HISTORY = 100;

/** Lines sent before, newest last. */
const history: string[] = [];

/** A line to the program, and the end of its input. The arrows bring back what was sent before. */
export function StdinBox({ feed }: { feed: OutputFeed }): JSX.Element {
  const [text, setText] = useState('');
  const [back, setBack] = useState(0);
  const send = (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    feed.write(`${text}\n`).catch(tellFailure);
    if (text !== '' && history.at(-1) !== text) history.push(text);
    if (history.length > MAX_HISTORY) history.shift();
    setText('');
    setBack(0);
  };
  const recall = (event: KeyboardEvent) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step === undefined) return;
    const place = Math.max(0, Math.min(history.length, back + step));
    event.preventDefault();
    setBack(place);
    setText(place === 0 ? '' : (history.at(-place) ?? ''));
  };
  return (
    <form class="stdin-box" onSubmit={send}>
      <label>
        <span class="hidden">A line for stdin</span>
        <input
          class="mono"
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="Type a line for stdin, and Enter"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={recall}
        />
      </label>
      <button type="submit">
        <Icon name="send" />
        Send
      </button>
      <button type="button" title="The program reads the end of its input" onClick={() => feed.end()}>
        Close stdin
      </button>
    </form>
  );
}
