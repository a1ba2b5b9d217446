import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { Field, Input } from './field.tsx';

type ConfirmProps = {
  open: boolean;
  onClose(): void;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The verb on the button. */
  action: string;
  /** The person has to type this text before the button works. */
  typed?: string | undefined;
  danger?: boolean;
  onConfirm(): Promise<unknown>;
};

/** Asks before something is done that cannot be undone, or that interrupts work. */
export function ConfirmDialog({ open, onClose, title, children, ...rest }: ConfirmProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <ConfirmForm onClose={onClose} explanation={children} {...rest} />
    </Dialog>
  );
}

type ConfirmFormProps = Omit<ConfirmProps, 'open' | 'title' | 'children'> & {
  explanation: ReactNode;
};

/** The dialog mounts the form anew each time it opens, so an earlier text or error is gone. */
function ConfirmForm({ onClose, explanation, action, typed, danger, onConfirm }: ConfirmFormProps) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      <div className="text-muted">{explanation}</div>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`}>
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look={danger ? 'danger' : 'primary'}
          busy={busy}
          disabled={typed !== undefined && text !== typed}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
