import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { Terminal } from '@xterm/xterm';
import type { TtySize } from '../../src/client/index.js';
import { styleBySheets } from './sheet-styles.js';
import { terminalTheme } from './terminal-theme.js';

const SCROLLBACK_LINES = 10_000;

/** A terminal on the page, as large as its place. */
export class PageTerminal {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #sizes: ResizeObserver;
  readonly #unstyle = styleBySheets();
  #fitting = false;

  constructor(place: HTMLElement, onInput: (input: string | Uint8Array) => void, onResize: (size: TtySize) => void) {
    this.#terminal = new Terminal({
      allowProposedApi: true, // the widths of today's characters
      cursorBlink: false,
      fontFamily: getComputedStyle(place).fontFamily,
      fontSize: 13,
      linkHandler: { activate: (_event, address) => openLink(address) },
      scrollback: SCROLLBACK_LINES,
      theme: terminalTheme(),
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = '11';
    this.#terminal.loadAddon(new WebLinksAddon((_event, address) => openLink(address)));
    this.#terminal.open(place);
    this.#terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    this.#terminal.onData(onInput);
    this.#terminal.onBinary((bytes) => onInput(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))); // the mouse, in its oldest encoding
    this.#terminal.onResize(({ cols, rows }) => onResize({ cols, rows }));
    this.#sizes = new ResizeObserver(() => this.#fitting && this.#fit.fit());
    this.#sizes.observe(place);
  }

  /** Takes a size, as what comes was drawn for it. */
  take({ cols, rows }: TtySize): void {
    this.#fitting = false;
    this.#terminal.resize(cols, rows);
  }

  /** From now on as large as its place. */
  fit(): void {
    this.#fitting = true;
    this.#fit.fit();
  }

  /** Resolves when it is drawn. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve));
  }

  clear(): void {
    this.#terminal.reset();
  }

  /** Shows what ended, and takes no more input. */
  freeze(): void {
    this.#terminal.options.disableStdin = true;
    this.#terminal.write('\x1b[?25l');
  }

  focus(): void {
    this.#terminal.focus();
  }

  recolor(): void {
    this.#terminal.options.theme = terminalTheme();
  }

  /** What is selected, or else all that is held. */
  text(): string {
    if (this.#terminal.hasSelection()) return this.#terminal.getSelection();
    this.#terminal.selectAll();
    const text = this.#terminal.getSelection();
    this.#terminal.clearSelection();
    return text.replace(/\n+$/, '\n');
  }

  dispose(): void {
    this.#sizes.disconnect();
    this.#terminal.dispose();
    this.#unstyle();
  }

  /** All keys go to the program but one: Shift+Escape leaves the terminal. */
  #key(event: KeyboardEvent): boolean {
    if (event.key !== 'Escape' || !event.shiftKey) return true;
    if (event.type === 'keydown') this.#terminal.blur();
    document.querySelector<HTMLElement>('.terminal-view .toolbar button')?.focus();
    return false;
  }
}

function openLink(address: string): void {
  if (/^https?:/i.test(address)) window.open(address, '_blank', 'noopener,noreferrer');
}
