import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

type Look = 'primary' | 'secondary' | 'ghost' | 'danger';
type Size = 'small' | 'medium';

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent-fill text-white hover:bg-accent-fill-hover',
  secondary: 'border border-line-strong bg-surface text-text hover:bg-hover',
  ghost: 'text-muted hover:bg-hover hover:text-text',
  danger: 'bg-bad-fill text-white hover:bg-bad-fill-hover',
};
const SIZES: Record<Size, string> = {
  small: 'h-7 gap-1.5 px-2 text-sm',
  medium: 'h-8 gap-2 px-3 text-sm',
};

/** The classes of a button, for a link that looks like one. */
export function buttonClass(look: Look = 'secondary', size: Size = 'medium'): string {
  return classNames(
    'inline-flex shrink-0 items-center justify-center rounded-md font-medium whitespace-nowrap motion-safe:transition-colors',
    'disabled:cursor-not-allowed disabled:opacity-55',
    LOOKS[look],
    SIZES[size],
  );
}

type ButtonProps = ComponentProps<'button'> & {
  look?: Look;
  size?: Size;
  /** The action is under way. */
  busy?: boolean;
};

export function Button({ look, size, busy = false, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      disabled={rest.disabled || busy}
      className={classNames(buttonClass(look, size), className)}
    >
      {children}
      {busy && <span aria-hidden="true" className="pulse-dot size-1.5 rounded-full bg-current" />}
    </button>
  );
}
