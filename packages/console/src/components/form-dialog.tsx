import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

type FormDialogProps = {
  /** The button that opens the dialog. */
  open: string;
  /** Names the button among others with the same text. */
  label?: string | undefined;
  title: string;
  /** The verb on the button that sends the form. */
  action: string;
  size?: 'small' | 'medium';
  look?: 'secondary' | 'ghost';
  onSubmit(form: FormData): Promise<unknown>;
  children: ReactNode;
};

/** A button that opens a form. The dialog closes when the server has accepted it. */
export function FormDialog(props: FormDialogProps) {
  const {
    open,
    label,
    title,
    action,
    size = 'small',
    look = 'secondary',
    onSubmit,
    children,
  } = props;
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const close = () => {
    setShown(false);
    setError(undefined);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(new FormData(event.currentTarget));
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button look={look} size={size} aria-label={label} onClick={() => setShown(true)}>
        {open}
      </Button>
      <Dialog open={shown} onClose={close} title={title}>
        <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
          {children}
          {error !== undefined && <ErrorNote error={error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" look="primary" busy={busy}>
              {action}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}

/** The text of a field of a form, without blanks around it. */
export function textOf(form: FormData, name: string): string {
  return String(form.get(name) ?? '').trim();
}
