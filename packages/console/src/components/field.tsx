import { type ComponentProps, type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';

type ControlProps = {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
};

type FieldProps = {
  label: string;
  hint?: ReactNode;
  /** What the server or the form found wrong with the value. */
  error?: string | undefined;
  optional?: boolean;
  className?: string;
  /** Renders the control with the properties that connect it to its label. */
  children(control: ControlProps): ReactNode;
};

export function Field({ label, hint, error, optional = false, className, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={classNames('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {optional && <span className="font-normal text-muted"> (optional)</span>}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

const CONTROL =
  'w-full rounded-md border border-line-strong bg-surface text-text placeholder:text-muted aria-invalid:border-bad disabled:opacity-60';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={classNames(CONTROL, 'h-8 px-2.5', className)} />;
}

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={classNames(CONTROL, 'h-8 px-2', className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...rest}
      className={classNames(CONTROL, 'min-h-20 px-2.5 py-1.5 font-mono text-sm', className)}
    />
  );
}
