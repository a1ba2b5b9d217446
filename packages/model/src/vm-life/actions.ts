import { VM_STATES, type VmState, type VmTransition } from './states.ts';

const POWER_COLUMNS = 'desired_state, power_action, generation; opens the operation';

/** What the api does to a VM, because a tenant requests it, or an operator (MOVE). */
export const VM_ACTIONS = [
  {
    event: 'CREATE',
    by: 'api',
    meaning: 'A tenant creates the VM.',
    from: [],
    to: ['STATE_CREATING'],
    functions: ['createVm', 'insertVm'],
    writes: 'the row, with its OS disk and interface; opens the operation',
  },
  {
    event: 'START',
    by: 'api',
    meaning: 'A tenant starts the VM.',
    from: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
    to: ['STATE_STARTING'],
    functions: ['changeVm', 'updateVmPower'],
    writes: POWER_COLUMNS,
  },
  {
    event: 'STOP',
    by: 'api',
    meaning: 'A tenant stops the VM.',
    from: ['STATE_RUNNING'],
    to: ['STATE_STOPPING'],
    functions: ['changeVm', 'updateVmPower'],
    writes: POWER_COLUMNS,
  },
  {
    event: 'RESET',
    by: 'api',
    meaning: 'A tenant resets the VM.',
    from: ['STATE_RUNNING'],
    to: ['STATE_RESETTING'],
    functions: ['changeVm', 'updateVmPower'],
    writes: POWER_COLUMNS,
  },
  {
    event: 'MOVE',
    by: 'api',
    meaning: 'An operator moves the VM: its host takes it down, and another one starts it.',
    from: ['STATE_RUNNING'],
    to: ['STATE_STARTING'],
    functions: ['moveVm', 'updateVmMoving'],
    writes:
      'relocating, avoided_hosts, power_action, generation; opens the operation; adds an event',
  },
  {
    event: 'DELETE',
    by: 'api',
    meaning:
      'A tenant deletes the VM. An unfinished operation is cancelled, unless it is a DELETE.',
    from: VM_STATES,
    to: ['STATE_DELETING'],
    functions: ['deleteVm', 'updateVmDeleted'],
    writes: 'desired_state; ends the unfinished operation and opens another',
  },
  {
    event: 'CHANGE_TYPE',
    by: 'api',
    meaning: 'A tenant changes the type of the VM.',
    from: ['STATE_SHUTOFF'],
    to: [],
    functions: ['changeVm', 'updateVmDefinition'],
    writes: 'type; the operation is recorded as succeeded',
  },
  {
    event: 'ATTACH_DISKS',
    by: 'api',
    meaning: 'A tenant attaches disks.',
    from: ['STATE_RUNNING', 'STATE_SHUTOFF'],
    to: [],
    functions: ['attachDisks', 'insertAttachment'],
    writes: 'disk_attachments; opens the operation',
  },
  {
    event: 'DETACH_DISKS',
    by: 'api',
    meaning: 'A tenant detaches disks.',
    from: ['STATE_RUNNING', 'STATE_SHUTOFF'],
    to: [],
    functions: ['detachDisks', 'updateAttachmentDetached'],
    writes: 'disk_attachments; opens the operation',
  },
  {
    event: 'CHANGE_PUBLIC_ADDRESS',
    by: 'api',
    meaning: 'A tenant attaches or detaches a reserved public address, while no host has the VM.',
    from: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
    to: [],
    functions: ['attachPublicAddress', 'detachPublicAddress'],
    writes: 'reserved_addresses; the operation is recorded as succeeded',
  },
] as const satisfies readonly VmTransition[];

/** What a tenant asks of a VM that exists. */
export type VmAction = Exclude<(typeof VM_ACTIONS)[number]['event'], 'CREATE'>;

/** Returns why the api refuses the action for a VM in this state; null if it accepts the action. */
export function vmRefusal(action: VmAction, state: VmState): string | null {
  const accepted = VM_ACTIONS.flatMap(({ event, from }): readonly VmState[] =>
    event === action ? from : [],
  );
  if (accepted.includes(state)) return null;
  return `${action} is not possible while the VM is ${state}: it needs ${accepted.join(' or ')}`;
}
