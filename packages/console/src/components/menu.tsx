import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type MenuItem = {
  label: string;
  onSelect(): void;
  disabled?: boolean;
  danger?: boolean;
};

type MenuProps = {
  /** The button that opens the menu. */
  trigger: ReactElement<Record<string, unknown>>;
  items: MenuItem[];
  /** Shown above the items. */
  heading?: ReactNode;
  align?: 'start' | 'end';
};

export function Menu({ trigger, items, heading, align = 'end' }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="z-50">
          <Base.Popup className="min-w-44 rounded-lg border border-line bg-raised p-1 shadow-popup">
            {heading}
            {items.map(({ label, onSelect, disabled = false, danger }) => (
              <Base.Item
                key={label}
                disabled={disabled}
                onClick={onSelect}
                className={classNames(
                  'flex h-8 cursor-default items-center rounded-md px-2.5 text-sm select-none data-disabled:opacity-50 data-highlighted:bg-hover',
                  danger && 'text-bad',
                )}
              >
                {label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
