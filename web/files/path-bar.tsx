import type { JSX, TargetedEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.js';
import { type Place, placeHref, typedPlace } from './place.js';

/** Where one is: the way there as links, or a field to type another. */
export function PathBar({ place }: { place: Place }): JSX.Element {
  const [typing, setTyping] = useState(false);
  if (typing) return <PathField place={place} onDone={() => setTyping(false)} />;
  return (
    <nav class="path-bar" aria-label="Path">
      <ol>
        {[undefined, ...place].map((name, index) => (
          <li key={index}>
            <a href={placeHref(place.slice(0, index))} aria-current={index === place.length ? 'page' : undefined}>
              {name === undefined ? <Icon name="folder" /> : name.name}
              {name === undefined && <span class="hidden">Top directory</span>}
            </a>
          </li>
        ))}
      </ol>
      <button type="button" class="quiet small" aria-label="Type a path" title="Type a path" onClick={() => setTyping(true)}>
        <Icon name="edit" />
      </button>
    </nav>
  );
}

function PathField({ place, onDone }: { place: Place; onDone: () => void }): JSX.Element {
  const [path, setPath] = useState(`/${place.map(({ name }) => name).join('/')}`);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const go = (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    window.location.hash = placeHref(typedPlace(path));
    onDone();
  };
  return (
    <form class="path-bar" onSubmit={go}>
      <input
        class="mono"
        aria-label="Path"
        value={path}
        ref={field}
        onInput={(event) => setPath(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onDone()}
      />
      <button type="submit">Go</button>
    </form>
  );
}
