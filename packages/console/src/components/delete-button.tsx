import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

type DeleteButtonProps = {
  name: string;
  /** What else happens. */
  children: ReactNode;
  action?: string;
  onConfirm(): Promise<unknown>;
};

/** A button in a row of a list that deletes its thing, after a question. */
export function DeleteButton({ name, children, action = 'Delete', onConfirm }: DeleteButtonProps) {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button
        look="ghost"
        size="small"
        aria-label={`${action} ${name}`}
        onClick={() => setAsked(true)}
      >
        {action}
      </Button>
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`${action} ${name}?`}
        action={action}
        danger
        onConfirm={onConfirm}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
