import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

type DialogProps = {
  open: boolean;
  onClose(): void;
  title: string;
  children: ReactNode;
  /** Only what is inside closes the dialog: neither Escape nor a click beside it. */
  persistent?: boolean;
};

/** A window over the page. The focus stays in it and returns to where it was. */
export function Dialog({ open, onClose, title, children, persistent = false }: DialogProps) {
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={persistent}
      onOpenChange={(next) => {
        if (!next && !persistent) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup className="fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-popup">
          <Base.Title className="mb-2 text-lg font-semibold">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
