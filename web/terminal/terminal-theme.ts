import type { ITheme } from '@xterm/xterm';

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** The colours of the page, for a terminal. */
export function terminalTheme(): ITheme {
  const probe = document.createElement('span');
  document.body.append(probe);
  const color = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const theme: Record<string, string> = {
    background: color('term-bg'),
    foreground: color('term-fg'),
    cursor: color('accent'),
    cursorAccent: color('term-bg'),
    selectionBackground: color('term-selection'),
  };
  NAMES.forEach((name, index) => {
    theme[name] = color(`ansi-${index}`);
    theme[`bright${name[0]?.toUpperCase()}${name.slice(1)}`] = color(`ansi-${index + 8}`);
  });
  probe.remove();
  return theme;
}
