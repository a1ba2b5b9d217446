import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useStreamedEvents } from '../../../api/event-stream.ts';
import { serialLog } from '../../../api/project-queries.ts';
import { Button } from '../../../components/button.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Panel } from '../../../components/panel.tsx';
import { ScrollText } from '../../../components/scroll-text.tsx';
import { plainText } from './plain-text.ts';

/** The terminal is larger than everything else of the page, so it is loaded when it is opened. */
const Terminal = lazy(async () => ({ default: (await import('./terminal.tsx')).Terminal }));
const LOG_EVERY_MS = 5_000;

/** What the VM printed on its serial line, or a terminal on that line. */
export function SerialPanel({ vm }: { vm: Schemas['Vm'] }) {
  const [open, setOpen] = useState(false);
  const runs = vm.state === 'STATE_RUNNING';
  return (
    <Panel
      title="Serial console"
      actions={
        <Button size="small" disabled={!runs && !open} onClick={() => setOpen(!open)}>
          {open ? 'Close the terminal' : 'Open a terminal'}
        </Button>
      }
    >
      {open ? (
        <Suspense fallback={<Loading what="the terminal" />}>
          <Terminal projectId={vm.project_id} vmId={vm.id} />
        </Suspense>
      ) : (
        <SerialLog vm={vm} />
      )}
    </Panel>
  );
}

function SerialLog({ vm }: { vm: Schemas['Vm'] }) {
  const { data, refetch } = useQuery({
    ...serialLog(vm.project_id, vm.id),
    refetchInterval: LOG_EVERY_MS,
  });
  // A VM that starts or crashes has just printed something.
  useStreamedEvents(({ type, data: { id } }) => {
    if (type === 'vm' && id === vm.id) void refetch();
  });
  return (
    <ScrollText
      text={plainText(data?.serial_log ?? '') || 'Nothing was printed yet.'}
      label="What the serial console printed last"
      className="h-72 rounded-md border border-line"
    />
  );
}
