import type { Schemas } from '@gantry/sdk';
import { Panel } from '../../../components/panel.tsx';
import { type Difference, readDifference } from './drift.ts';

/** How the host differs from what was accepted, as lines that were removed and added. */
export function DriftPanel({ host }: { host: Schemas['HostDetails'] }) {
  return (
    <Panel title="Changed since it was accepted">
      <p className="mb-2 text-muted">
        No new VM is placed here until the host is as before, or until you accept it as it is now.
      </p>
      <div className="overflow-x-auto rounded-md border border-line font-mono text-sm">
        {host.drift.map((sentence) => (
          <Lines key={sentence} difference={readDifference(sentence)} />
        ))}
      </div>
    </Panel>
  );
}

function Lines({ difference: { what, before, now } }: { difference: Difference }) {
  const name = what === '' ? '' : `${what}: `;
  return (
    <>
      {before !== '' && (
        <p className="bg-bad-soft px-3 py-0.5">
          <span aria-hidden="true">− </span>
          <span className="sr-only">Before: </span>
          {name}
          {before}
        </p>
      )}
      {now !== '' && (
        <p className="bg-good-soft px-3 py-0.5">
          <span aria-hidden="true">+ </span>
          <span className="sr-only">Now: </span>
          {name}
          {now}
        </p>
      )}
    </>
  );
}
