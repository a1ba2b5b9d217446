import { connection } from '../api/connection.ts';
import { useObservable } from '../api/observable.ts';

/** Floats over the page, so that nothing moves when the connection is lost and when it is back. */
export function ConnectionNote() {
  const state = useObservable(connection);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-30 flex justify-center"
    >
      {state === 'lost' && (
        <p className="flex items-center gap-2 rounded-full border border-warn/40 bg-warn-soft px-4 py-1.5 text-sm shadow-popup">
          <span aria-hidden="true" className="pulse-dot size-2 rounded-full bg-warn" />
          Connection lost, trying again
        </p>
      )}
    </div>
  );
}
