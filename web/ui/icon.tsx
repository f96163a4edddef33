import type { JSX } from 'preact';

/** Lines of 24 x 24, drawn with a round pen. */
const PATHS = {
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  list: 'M4 6h16M4 12h16M4 18h10',
  folder: 'M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  bin: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
  upload: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  book: 'M5 4h10a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11',
  plus: 'M12 5v14M5 12h14',
  stop: 'M6 6h12v12H6z',
  again: 'M4 12a8 8 0 1 0 2.6-5.9M4 4v4h4',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
  back: 'M15 6l-6 6 6 6',
  up: 'M12 19V6M6 11l6-6 6 6M5 3h14',
  down: 'M12 5v13M6 13l6 6 6-6M5 21h14',
  previous: 'M6 15l6-6 6 6',
  next: 'M6 9l6 6 6-6',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4m2-2l-2 2 2 2M4 18h5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  auto: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18M12 8l6-3M12 13l8.5-3M12 18l7-2',
  leave: 'M14 4h4a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-4M10 8l-4 4 4 4M6 12h9',
  close: 'M6 6l12 12M18 6L6 18',
  terminal: 'M4 5h16v14H4zM8 10l3 2.5L8 15M13 15h4',
  send: 'M4 12l16-7-6 16-3-6.5z',
  key: 'M15 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11.5 12.5L4 20M7 17l2 2',
} as const;

export type IconName = keyof typeof PATHS;

/** A small picture beside words, or in a button that has a label: it is not read out. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
