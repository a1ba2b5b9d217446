import type { ReactNode } from 'react';

type Entry = { id: string; title: string; detail: ReactNode; note: ReactNode; action: ReactNode };

/** A short list: each entry has a title, a detail, a note and what can be done with it. */
export function EntryList({
  label,
  entries,
  empty,
}: {
  label: string;
  entries: Entry[];
  empty: string;
}) {
  if (entries.length === 0) return <p className="text-muted">{empty}</p>;
  return (
    <ul aria-label={label} className="-my-1 divide-y divide-line">
      {entries.map(({ id, title, detail, note, action }) => (
        <li key={id} className="flex items-center justify-between gap-3 py-2">
          <div className="min-w-0">
            <p className="font-medium">{title}</p>
            <p className="text-sm text-muted">{detail}</p>
          </div>
          <div className="flex shrink-0 items-center gap-3 text-sm text-muted">
            <span className="hidden sm:inline">{note}</span>
            {action}
          </div>
        </li>
      ))}
    </ul>
  );
}
