import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

type Tab = { id: string; label: string; content: ReactNode };

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  return (
    <Base.Root defaultValue={tabs[0]?.id}>
      <Base.List
        aria-label={label}
        className="mb-3 flex gap-4 overflow-x-auto border-b border-line"
      >
        {tabs.map(({ id, label }) => (
          <Base.Tab
            key={id}
            value={id}
            className="border-b-2 border-transparent whitespace-nowrap px-0.5 pb-1.5 text-sm text-muted hover:text-text data-active:border-accent data-active:text-text"
          >
            {label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
