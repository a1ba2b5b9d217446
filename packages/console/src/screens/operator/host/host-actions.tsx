import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { oneHost } from './host-queries.ts';

type Host = Schemas['HostDetails'];
type Action = {
  verb: string;
  title: string;
  explanation: ReactNode;
  danger?: boolean;
  /** The name of the host has to be typed. */
  typed?: boolean;
  run(host: Host): Promise<Host>;
};

const at = ({ id }: Host) => ({ host_id: id });

const CORDON: Action = {
  verb: 'Cordon',
  title: 'Place no new VMs here?',
  explanation:
    'The VMs on this host keep running. New ones go to other hosts until you uncordon it.',
  run: (host) => gantry.adminHosts.cordon(at(host)),
};
const UNCORDON: Action = {
  verb: 'Uncordon',
  title: 'Place new VMs here again?',
  explanation: 'The host takes new VMs from now on.',
  run: (host) => gantry.adminHosts.uncordon(at(host)),
};
const DRAIN: Action = {
  verb: 'Drain',
  title: 'Ask the tenants to leave?',
  explanation:
    'No new VM is placed here, and the owners of its VMs are told that the host is taken out of service. Their VMs keep running until they stop them.',
  run: (host) => gantry.adminHosts.drain(at(host)),
};
const ACCEPT: Action = {
  verb: 'Accept',
  title: 'Accept the host as it is now?',
  explanation: 'Its present hardware and software become what is expected, and it takes VMs again.',
  run: (host) => gantry.adminHosts.accept(at(host)),
};
const FENCE: Action = {
  verb: 'Declare dead',
  title: 'Declare that this host is dead?',
  explanation: (
    <>
      Switch its power off first. Its VMs may then start on other hosts; if it still ran, two copies
      of a VM could write to one disk. Its devices stay blocked, and it cannot come back without a
      new join token.
    </>
  ),
  danger: true,
  typed: true,
  run: (host) => gantry.adminHosts.fence({ ...at(host), body: { confirm: host.name } }),
};

/** The actions that make sense now; the API refuses the others. */
function actionsFor(host: Host): Action[] {
  if (host.fenced_at !== '') return [];
  return [
    ...(host.drift.length > 0 ? [ACCEPT] : []),
    ...(host.admin_state === 'active' ? [CORDON] : [UNCORDON]),
    ...(host.admin_state === 'draining' ? [] : [DRAIN]),
    ...(host.connected ? [] : [FENCE]),
  ];
}

export function HostActions({ host }: { host: Host }) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Action | null>(null);
  const [isOpen, setIsOpen] = useState(false);
  const ask = (action: Action) => {
    setAsked(action);
    setIsOpen(true);
  };
  return (
    <>
      {actionsFor(host).map((action) => (
        <Button
          key={action.verb}
          look={action.danger ? 'danger' : 'secondary'}
          onClick={() => ask(action)}
        >
          {action.verb}
        </Button>
      ))}
      {asked && (
        <ConfirmDialog
          open={isOpen}
          onClose={() => setIsOpen(false)}
          title={asked.title}
          action={asked.verb}
          danger={asked.danger ?? false}
          typed={asked.typed ? host.name : undefined}
          onConfirm={async () => {
            queryClient.setQueryData(oneHost(host.id).queryKey, await asked.run(host));
          }}
        >
          {asked.explanation}
        </ConfirmDialog>
      )}
    </>
  );
}
