import { signal } from '@preact/signals';

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'exec-gateway.theme';
const ORDER: Theme[] = ['auto', 'light', 'dark'];

export const theme = signal<Theme>(storedTheme());

/** Applies the theme that was chosen before. */
export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value === 'auto') delete root.dataset.theme;
  else root.dataset.theme = theme.value;
}

/** Goes on to the next theme, and remembers it. */
export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] as Theme;
  localStorage.setItem(KEY, theme.value);
  applyTheme();
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return ORDER.find((name) => name === stored) ?? 'auto';
}
