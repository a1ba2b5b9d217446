import type { Schemas } from '@gantry/sdk';
import type { ReactNode } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Panel } from '../../../components/panel.tsx';
import { formatPrice } from '../../../format/money.ts';

type PricePanelProps = {
  availability: Schemas['Availability'] | undefined;
  /** What the server said about the whole form; absent until the form is complete. */
  estimate: Schemas['VmEstimate'] | undefined;
  children: ReactNode;
};

/** What the VM costs, and whether there is room for it now. */
export function PricePanel({ availability, estimate, children }: PricePanelProps) {
  const known = estimate ?? availability;
  const charges = estimate?.charges ?? [];
  return (
    <Panel title="Price">
      <p className="text-xl font-semibold">
        {known ? formatPrice(known.usd_per_hour) : '–'}
        <span className="text-base font-normal text-muted"> per hour while it runs</span>
      </p>
      {charges.length > 1 && (
        <ul aria-label="Charges" className="mt-1 text-sm text-muted">
          {charges.map(({ resource_type, quantity, usd_per_hour }, index) => (
            <li key={index} className="flex justify-between">
              <span>
                {resource_type}
                {index > 0 && `, ${quantity} GB`}
              </span>
              {formatPrice(usd_per_hour)}
            </li>
          ))}
        </ul>
      )}
      <div className="mt-1 mb-3 flex flex-col gap-1 text-sm text-muted">
        {known ? <Room availability={availability} estimate={estimate} /> : 'Choose a type.'}
        {known && !known.priced && <p>Not everything in it has a price yet.</p>}
      </div>
      {children}
    </Panel>
  );
}

function Room({ availability, estimate }: Omit<PricePanelProps, 'children'>) {
  const fits = estimate?.fits ?? availability?.available ?? false;
  const reason = estimate?.reason || availability?.reason || '';
  if (fits) return <Badge tone="good">{describeRoom(availability?.count ?? 0)}</Badge>;
  return (
    <>
      <Badge tone="warn">It cannot be placed now</Badge>
      <p>{reason}</p>
    </>
  );
}

/** The server counts up to this number. */
const MOST_COUNTED = 100;

/** How many VMs of a type fit. The number is an upper bound. */
function describeRoom(count: number): string {
  if (count >= MOST_COUNTED) return `${MOST_COUNTED} VMs of this type or more fit now`;
  return count > 1 ? `Up to ${count} VMs of this type fit now` : 'One VM of this type fits now';
}
