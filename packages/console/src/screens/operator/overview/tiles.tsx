import type { Schemas } from '@gantry/sdk';
import { Link } from '@tanstack/react-router';
import { classNames } from '../../../components/class-names.ts';
import { GPU_STATES } from '../fleet-map/gpu-states.ts';
import { StateMark } from '../fleet-map/state-mark.tsx';

type Summary = Schemas['FleetSummary'];

export function Tiles({ summary }: { summary: Summary }) {
  const attention = [
    { label: 'Hosts lost', count: summary.hosts_lost, hint: 'unreachable or declared dead' },
    { label: 'Hosts cordoned', count: summary.hosts_cordoned, hint: 'take no new VMs, as ordered' },
    {
      label: 'Hosts changed',
      count: summary.hosts_drifted,
      hint: 'differ from what was accepted',
    },
    { label: 'Failed operations', count: summary.failed_operations, hint: 'in the last 24 hours' },
  ];
  return (
    <div className="grid grid-cols-2 gap-3 md:grid-cols-4">
      {GPU_STATES.map(({ state, label, meaning }) => (
        <Tile
          key={state}
          label={`GPUs ${label.toLowerCase()}`}
          mark={<StateMark state={state} />}
          value={summary.gpus.reduce((sum, each) => sum + each[state], 0)}
          hint={meaning}
        />
      ))}
      {attention.map(({ label, count, hint }) => (
        <Tile key={label} label={label} value={count} hint={hint} isBad={count > 0} />
      ))}
      <p className="col-span-full text-sm text-muted">
        {summary.hosts.toLocaleString('en')} {summary.hosts === 1 ? 'host' : 'hosts'} in all.{' '}
        <Link to="/operator/hosts" className="text-accent underline">
          List of hosts
        </Link>
      </p>
    </div>
  );
}

type TileProps = {
  label: string;
  value: number;
  hint: string;
  mark?: React.ReactNode;
  isBad?: boolean;
};

function Tile({ label, value, hint, mark, isBad = false }: TileProps) {
  return (
    <div
      className={classNames(
        'rounded-lg border bg-surface px-4 py-3',
        isBad ? 'border-bad/40' : 'border-line',
      )}
    >
      <p className="flex items-center gap-1.5 text-sm text-muted">
        {mark}
        {label}
      </p>
      <p className={classNames('mt-0.5 text-xl font-semibold', isBad && 'text-bad')}>
        {value.toLocaleString('en')}
      </p>
      <p className="text-xs text-muted">{hint}</p>
    </div>
  );
}
