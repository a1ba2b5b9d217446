import { useSyncExternalStore } from 'react';

/** A value outside of React that components can show. */
export type Observable<T> = {
  get(): T;
  set(next: T): void;
  /** Calls the listener after each change, with the new and the old value. Returns a cancel function. */
  subscribe(listener: (next: T, before: T) => void): () => void;
};

export function observable<T>(initial: T): Observable<T> {
  let value = initial;
  const listeners = new Set<(next: T, before: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      const before = value;
      value = next;
      for (const listener of listeners) listener(next, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useObservable<T>({ subscribe, get }: Observable<T>): T {
  return useSyncExternalStore(subscribe, get);
}
