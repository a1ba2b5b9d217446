import type { Schemas } from '@gantry/sdk';
import { type ReactNode, useState } from 'react';
import { gantry } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { MoreIcon } from '../../components/icons.tsx';
import { Menu } from '../../components/menu.tsx';
import type { VmState } from '../../format/vm-state.ts';

type Vm = Schemas['Vm'];
type Action = {
  id: 'START' | 'STOP' | 'RESET' | 'DELETE';
  label: string;
  /** The states in which the API accepts it; every state if there is no list. */
  states?: VmState[];
  danger?: true;
  /** What will happen. */
  explain(name: string): ReactNode;
};

const ACTIONS: Action[] = [
  {
    id: 'START',
    label: 'Start',
    states: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
    explain: (name) =>
      `${name} is placed on a host with free GPUs and boots. It costs from then on.`,
  },
  {
    id: 'STOP',
    label: 'Stop',
    states: ['STATE_RUNNING'],
    explain: (name) =>
      `${name} shuts down within 90 seconds. Its GPUs are given back and its NVMe drives are erased. Disks and the private address stay.`,
  },
  {
    id: 'RESET',
    label: 'Reset',
    states: ['STATE_RUNNING'],
    explain: (name) =>
      `${name} restarts at once, as if its reset button was pressed. Unsaved work is lost.`,
  },
  {
    id: 'DELETE',
    label: 'Delete',
    danger: true,
    explain: (name) =>
      `${name} and its OS disk are deleted for ever. Other disks are detached and stay.`,
  },
];

type VmActionsProps = {
  vm: Vm;
  /** A menu for a row of a list, or buttons for the page of the VM. */
  look: 'menu' | 'buttons';
};

/** What can be done to a VM in its state. Every action asks first. */
export function VmActions({ vm, look }: VmActionsProps) {
  const [chosen, setChosen] = useState<Action>();
  const possible = (action: Action) =>
    action.states?.includes(vm.state) ?? vm.state !== 'STATE_DELETING';
  return (
    <>
      {look === 'menu' ? (
        <Menu
          trigger={
            <Button look="ghost" size="small" aria-label={`Actions for ${vm.name}`}>
              <MoreIcon />
            </Button>
          }
          items={ACTIONS.map((action) => ({
            label: action.label,
            danger: action.danger ?? false,
            disabled: !possible(action),
            onSelect: () => setChosen(action),
          }))}
        />
      ) : (
        ACTIONS.filter(possible).map((action) => (
          <Button key={action.id} onClick={() => setChosen(action)}>
            {action.label}
          </Button>
        ))
      )}
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title={`${chosen?.label} ${vm.name}?`}
        action={chosen?.label ?? ''}
        danger={chosen?.danger ?? false}
        typed={chosen?.id === 'DELETE' ? vm.name : undefined}
        onConfirm={async () => chosen && (await perform(vm, chosen.id))}
      >
        {chosen?.explain(vm.name)}
      </ConfirmDialog>
    </>
  );
}

function perform({ id, project_id }: Vm, action: Action['id']) {
  const place = { project_id, vm_id: id };
  if (action === 'DELETE') return gantry.vms.delete(place);
  return gantry.vms.change({ ...place, body: { action } });
}
