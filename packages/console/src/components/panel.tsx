import type { ReactNode } from 'react';

type PanelProps = { title: string; actions?: ReactNode; children: ReactNode };

/** A part of a screen with a heading of its own. */
export function Panel({ title, actions, children }: PanelProps) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface">
      <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
        <h2 className="font-medium">{title}</h2>
        {actions}
      </div>
      <div className="px-4 py-3">{children}</div>
    </section>
  );
}

/** Facts as pairs of a name and a value. */
export function Facts({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      {items.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
