import { signal } from '@preact/signals';

/** Where one is in the app: the part of the address behind `#`. */
export interface Route {
  page: string;
  /** What follows the page, decoded: the id of a process, say. */
  rest: string;
  /** The same as it stands in the address. */
  raw: string;
}

const HOME = 'processes';

export const route = signal<Route>(routeOf(window.location.hash));

/** The address of a page. */
export const hrefOf = (page: string, rest = ''): string => `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}`;

/** Goes to a page. */
export function goTo(page: string, rest = ''): void {
  window.location.hash = hrefOf(page, rest);
}

/** Follows the address bar. */
export function followAddress(): void {
  const follow = () => {
    route.value = routeOf(window.location.hash);
  };
  window.addEventListener('hashchange', follow);
  follow();
}

function routeOf(hash: string): Route {
  const [page = '', ...rest] = hash.replace(/^#\/?/, '').split('/');
  return { page: page === '' || page.includes('=') ? HOME : page, rest: decoded(rest.join('/')), raw: rest.join('/') };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
