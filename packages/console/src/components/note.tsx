import type { ReactNode } from 'react';

type NoteProps = { tone: 'bad' | 'warn' | 'info'; role?: 'alert' | 'status'; children: ReactNode };

const TONES = {
  bad: 'border-bad/40 bg-bad-soft',
  warn: 'border-warn/40 bg-warn-soft',
  info: 'border-accent/30 bg-accent-soft',
};

/** A message that belongs to the page. */
export function Note({ tone, role, children }: NoteProps) {
  return (
    <div role={role} className={`rounded-md border px-3 py-2 ${TONES[tone]}`}>
      {children}
    </div>
  );
}
