import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps {
  count: number;
  row_height: number;
  /** Rows out of sight that are kept ready above and below. */
  spare?: number;
  /** Stays at the top. */
  head?: ComponentChildren;
  role?: 'rowgroup';
  row: (index: number, top: number) => ComponentChildren;
}

/** A list of rows of equal height, of which only those in sight are there. */
export function VirtualList({ count, row_height, spare = 6, head, role, row }: VirtualListProps): JSX.Element {
  const pane = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = pane.current as HTMLDivElement;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(seen.top / row_height), count) - spare);
  const last = Math.min(count, Math.ceil((seen.top + seen.height) / row_height) + spare);
  const rows: ComponentChildren[] = [];
  for (let index = first; index < last; index++) rows.push(row(index, index * row_height));
  return (
    <div ref={pane} class="virtual-list">
      {head}
      <div class="virtual-space" role={role} style={{ height: `${count * row_height}px` }}>
        {rows}
      </div>
    </div>
  );
}
