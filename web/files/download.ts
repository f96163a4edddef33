import { BASE_URL } from '../base-url.js';
import { filePath, type Place } from './place.js';

/** Where the browser gets a file, or a directory as a tar: it goes to the disk as it comes, whatever its size. */
export function downloadHref(place: Place, type: 'file' | 'directory'): string {
  const { path, path_base64 } = filePath(place);
  const query = new URLSearchParams(path === undefined ? { path_base64: path_base64 ?? '' } : { path });
  if (type === 'file') query.set('download', 'true');
  return `${BASE_URL}/fs/${type === 'file' ? 'file' : 'archive'}?${query}`;
}
