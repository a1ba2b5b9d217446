import type { Schemas } from '@gantry/sdk';
import { Badge } from '../../../components/badge.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatPrice } from '../../../format/money.ts';

type Spec = Schemas['Spec'];
type Availability = Schemas['Availability'];

type TypeChoiceProps = {
  specs: Spec[];
  /** What the chosen location has of each type. Absent: it does not offer the type. */
  availability: ReadonlyMap<string, Availability>;
  chosen: string;
  onChoose(type: string): void;
};

/** The types that the location offers, with what each consists of and costs. */
export function TypeChoice({ specs, availability, chosen, onChoose }: TypeChoiceProps) {
  const offered = specs.flatMap((spec) => {
    const now = availability.get(spec.product_name);
    return now ? { spec, now } : [];
  });
  return (
    <div className="max-h-[22rem] overflow-auto rounded-lg border border-line bg-surface">
      <table className="w-full border-collapse text-sm" aria-label="VM types">
        <thead className="sticky top-0 z-10 bg-surface text-left text-xs text-muted shadow-[0_1px_0_var(--color-line)]">
          <tr>
            <th scope="col" className="h-9 pl-4 font-medium">
              Type
            </th>
            <th scope="col" className="px-2 font-medium">
              GPUs
            </th>
            <th scope="col" className="hidden px-2 text-right font-medium xl:table-cell">
              Cores
            </th>
            <th scope="col" className="hidden px-2 text-right font-medium md:table-cell">
              Memory
            </th>
            <th scope="col" className="px-2 text-right font-medium">
              Per hour
            </th>
            <th scope="col" className="hidden px-2 pr-4 font-medium sm:table-cell">
              Now
            </th>
          </tr>
        </thead>
        <tbody>
          {offered.map(({ spec, now }) => (
            <TypeRow
              key={spec.product_name}
              spec={spec}
              now={now}
              checked={chosen === spec.product_name}
              onChoose={() => onChoose(spec.product_name)}
            />
          ))}
        </tbody>
      </table>
      {offered.length === 0 && (
        <p className="px-4 py-6 text-center text-muted">This location offers no type.</p>
      )}
    </div>
  );
}

type TypeRowProps = {
  spec: Spec;
  now: Availability;
  checked: boolean;
  onChoose(): void;
};

function TypeRow({ spec, now, checked, onChoose }: TypeRowProps) {
  const { product_name: name, num_gpu, gpu_type, cpu_cores, memory_gb } = spec;
  return (
    // A click anywhere in the row chooses the type; the keyboard uses the radio button in it.
    <tr
      onClick={onChoose}
      className={classNames(
        'cursor-pointer border-b border-line last:border-0',
        checked ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <td className="h-10 pl-4">
        <label className="flex cursor-pointer items-center gap-2 font-medium whitespace-nowrap">
          <input
            type="radio"
            name="type"
            checked={checked}
            onChange={onChoose}
            className="accent-accent"
          />
          {name}
        </label>
      </td>
      <td className="px-2 py-1 whitespace-nowrap">
        {num_gpu === 0 ? '–' : `${num_gpu} × ${gpu_type}`}
        <span className="block text-muted sm:hidden">
          <Room now={now} />
        </span>
      </td>
      <td className="hidden px-2 text-right xl:table-cell">{cpu_cores}</td>
      <td className="hidden px-2 text-right whitespace-nowrap md:table-cell">{memory_gb} GB</td>
      <td className="px-2 text-right">{now.priced ? formatPrice(now.usd_per_hour) : '–'}</td>
      <td className="hidden px-2 pr-4 sm:table-cell">
        <Room now={now} />
      </td>
    </tr>
  );
}

/** The server counts up to 100. */
function Room({ now: { available, count, reason } }: { now: Availability }) {
  if (!available) {
    return (
      <span title={reason}>
        <Badge tone="idle">None left</Badge>
      </span>
    );
  }
  return <Badge tone="good">{count >= 100 ? '100 or more' : `${count} left`}</Badge>;
}
