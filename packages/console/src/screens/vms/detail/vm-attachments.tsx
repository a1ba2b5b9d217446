import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { networks } from '../../../api/project-queries.ts';
import { Panel } from '../../../components/panel.tsx';
import { showSize } from '../../disks/disk-size.ts';

type Vm = Schemas['Vm'];

/** The disks and the interfaces of a VM. */
export function VmAttachments({ vm }: { vm: Vm }) {
  return (
    <>
      <Panel title="Disks">
        <ul className="flex flex-col gap-1.5">
          {vm.disks.map(({ id, name, size, type, attachment_type, mode }) => (
            <li key={id} className="flex flex-wrap justify-between gap-x-4">
              <span className="font-medium">{name}</span>
              <span className="text-muted">
                {showSize(size)}, {type}, {attachment_type === 'os' ? 'OS disk' : 'data disk'}
                {mode === 'read-only' && ', read-only'}
              </span>
            </li>
          ))}
        </ul>
        {vm.disks.length === 0 && <p className="text-muted">The VM has no disk yet.</p>}
      </Panel>
      <Interfaces vm={vm} />
    </>
  );
}

function Interfaces({ vm }: { vm: Vm }) {
  const { data = [] } = useQuery(networks(vm.project_id));
  const nameOf = (networkId: string) => data.find(({ id }) => id === networkId)?.name ?? networkId;
  return (
    <Panel title="Network interfaces">
      <ul className="flex flex-col gap-1.5">
        {vm.network_interfaces.map(({ id, network, mac_address, ips }) => (
          <li key={id}>
            <div className="flex flex-wrap justify-between gap-x-4">
              <span className="font-medium">{nameOf(network)}</span>
              <span className="font-mono text-xs leading-6 text-muted">{mac_address}</span>
            </div>
            {ips.map(({ private_ipv4, public_ipv4 }) => (
              <p key={private_ipv4.address} className="text-muted">
                Private <Address text={private_ipv4.address} /> · Public{' '}
                <Address text={public_ipv4.address} />
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Address({ text }: { text: string }) {
  return text === '' ? <>none</> : <code className="font-mono text-text">{text}</code>;
}
