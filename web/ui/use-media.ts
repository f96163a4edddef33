import { useEffect, useState } from 'preact/hooks';

/** Whether a media query matches, now and whenever that changes. */
export function useMedia(media: MediaQueryList): boolean {
  const [matches, setMatches] = useState(media.matches);
  useEffect(() => {
    const follow = () => setMatches(media.matches);
    follow();
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [media]);
  return matches;
}
