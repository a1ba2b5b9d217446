import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'idle';

const DOTS: Record<Tone, string> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  busy: 'bg-accent pulse-dot',
  idle: 'bg-muted',
};

/** A state: its meaning is in the words, and the colour only repeats it. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span aria-hidden="true" className={classNames('size-2 shrink-0 rounded-full', DOTS[tone])} />
      {children}
    </span>
  );
}

/** A short label, such as a tag. */
export function Chip({ children }: { children: ReactNode }) {
  return (
    <span className="inline-block max-w-48 truncate rounded border border-line bg-hover px-1.5 align-bottom text-xs leading-5 text-muted">
      {children}
    </span>
  );
}
