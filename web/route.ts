import { signal } from '@preact/signals';

/** The page that the address names: `#/runs/r-1?seq=3`. */
export interface Route {
  page: string;
  id: string | undefined;
  query: URLSearchParams;
}

export const route = signal(readRoute());

addEventListener('hashchange', () => {
  route.value = readRoute();
});

function readRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', id] = path.split('/').map(decoded);
  return { page: page === '' ? 'inbox' : page, id, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page. */
export function hrefOf(page: string, id?: string, query: Readonly<Record<string, string>> = {}): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  const search = filled.length === 0 ? '' : `?${new URLSearchParams(filled)}`;
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search}`;
}
