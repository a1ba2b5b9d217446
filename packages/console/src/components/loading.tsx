import { useEffect, useState } from 'react';

/** Most replies arrive sooner; a message that appears and disappears at once is only noise. */
const PATIENCE_MS = 250;

export function Loading({ what }: { what: string }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="px-1 py-10 text-center text-muted">
      {shown ? `Loading ${what} …` : ' '}
    </p>
  );
}
