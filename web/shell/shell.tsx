import type { ComponentChildren, JSX } from 'preact';
import { lineLost } from '../processes/process-store.js';
import { hrefOf, route } from '../route.js';
import { asksToken, signOut } from '../session.js';
import { nextTheme, type Theme, theme } from '../theme.js';
import { Icon, type IconName } from '../ui/icon.js';

/** A page in the menu. */
export interface MenuEntry {
  page: string;
  word: string;
  icon: IconName;
}

const THEMES: Record<Theme, [icon: IconName, word: string]> = {
  auto: ['auto', 'Theme: auto'],
  light: ['sun', 'Theme: light'],
  dark: ['moon', 'Theme: dark'],
};

/** What is around every page: the menu, and whether the gateway is reached. */
export function Shell({ entries, children }: { entries: MenuEntry[]; children: ComponentChildren }): JSX.Element {
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <nav class="menu" aria-label="Pages">
        <span class="brand">
          <span class="brand-mark" aria-hidden="true">
            <Icon name="terminal" />
          </span>
          <span class="word">exec-gateway</span>
        </span>
        <ul>
          {entries.map(({ page, word, icon }) => (
            <li key={page}>
              <a href={hrefOf(page)} aria-current={route.value.page === page ? 'page' : undefined}>
                <Icon name={icon} />
                <span class="word">{word}</span>
              </a>
            </li>
          ))}
        </ul>
        <span class="spring" />
        <Bottom />
      </nav>
      <main id="main" tabindex={-1}>
        {lineLost.value !== null && (
          <div class="line-lost" role="alert">
            <span class="dot" aria-hidden="true" />
            <span>
              <strong>Connection lost.</strong> Trying again; nothing is missed.
            </span>
          </div>
        )}
        {children}
      </main>
    </div>
  );
}

function Bottom(): JSX.Element {
  const [icon, word] = THEMES[theme.value];
  return (
    <div class="menu-bottom">
      <button type="button" class="quiet" title={word} aria-label={word} onClick={nextTheme}>
        <Icon name={icon} />
        <span class="word">{word}</span>
      </button>
      {asksToken.value && (
        <button type="button" class="quiet" title="Sign out" aria-label="Sign out" onClick={() => void signOut()}>
          <Icon name="leave" />
          <span class="word">Sign out</span>
        </button>
      )}
    </div>
  );
}
