/**
 * The life of a VM on one page: its states, the facts they are derived from, and everything that
 * moves a VM from one state to another.
 *
 * No process stores a VM's state. The api, the scheduler and the hosts write facts (`VmFacts`), and
 * the generated column `vms.state` derives the state from them. The tables of this file describe the
 * same rules in TypeScript:
 * - the api decides with `vmRefusal` which actions it accepts in a state;
 * - test/settle/vm-life-table.pg.test.ts compares `vmStateOf` and `vmShouldRun` with the database for
 *   every combination of facts, and compares `VM_TRANSITIONS` with what api and scheduler really do
 *   to a VM in every combination of facts that can occur;
 * - docs/contributors/vm-life.md is generated from this file by vm-life.test.ts.
 */

export const VM_STATES = [
  'STATE_CREATING',
  'STATE_RUNNING',
  'STATE_STOPPING',
  'STATE_SHUTOFF',
  'STATE_STARTING',
  'STATE_RESETTING',
  'STATE_CRASHED',
  'STATE_UNREACHABLE',
  'STATE_ERROR',
  'STATE_DELETING',
] as const;
export type VmState = (typeof VM_STATES)[number];

/** The state that the tenant requested. */
export const VM_DESIRED_STATES = ['running', 'stopped', 'deleted'] as const;
/** The last result on a host. `none` until the VM has run for the first time. */
export const VM_OBSERVED_STATES = ['none', 'running', 'stopped', 'crashed', 'failed'] as const;
/** The power actions. Each of them increments `vms.generation`. */
export const VM_POWER_ACTIONS = ['CREATE', 'START', 'STOP', 'RESET'] as const;

/** The columns of the table `vms` that determine the state. */
export type VmFacts = {
  /** `vms.desired_state`, written by the api. */
  desiredState: (typeof VM_DESIRED_STATES)[number];
  /** `vms.power_action`, the last power action, written by the api. */
  powerAction: (typeof VM_POWER_ACTIONS)[number];
  /** `vms.observed_generation < vms.generation`: the last power action has no result yet. */
  pending: boolean;
  /** `vms.observed_state`, written by the scheduler. */
  observedState: (typeof VM_OBSERVED_STATES)[number];
  /** `vms.reachable`, written by the scheduler. False while the host of the VM is unreachable. */
  reachable: boolean;
  /** `vms.abandoned`, written by the scheduler. The creation failed; the VM is being removed. */
  abandoned: boolean;
};

type StateRule = { state: VmState; condition: string; applies: (facts: VmFacts) => boolean };

const pendingAction = (state: VmState, action: VmFacts['powerAction']): StateRule => ({
  state,
  condition: `the power action ${action} has no result yet`,
  applies: ({ pending, powerAction }) => pending && powerAction === action,
});
const observed = (state: VmState, observedState: VmFacts['observedState']): StateRule => ({
  state,
  condition: `\`observed_state\` is \`${observedState}\``,
  applies: (facts) => facts.observedState === observedState,
});

/** The first rule that applies determines the state. */
export const VM_STATE_RULES: readonly StateRule[] = [
  {
    state: 'STATE_DELETING',
    condition: '`desired_state` is `deleted`, or `abandoned` is true',
    applies: ({ desiredState, abandoned }) => desiredState === 'deleted' || abandoned,
  },
  {
    state: 'STATE_UNREACHABLE',
    condition: '`reachable` is false',
    applies: ({ reachable }) => !reachable,
  },
  pendingAction('STATE_CREATING', 'CREATE'),
  pendingAction('STATE_STARTING', 'START'),
  pendingAction('STATE_STOPPING', 'STOP'),
  pendingAction('STATE_RESETTING', 'RESET'),
  observed('STATE_RUNNING', 'running'),
  observed('STATE_SHUTOFF', 'stopped'),
  observed('STATE_CRASHED', 'crashed'),
  observed('STATE_ERROR', 'failed'),
  observed('STATE_CREATING', 'none'),
];

export function vmStateOf(facts: VmFacts): VmState {
  const rule = VM_STATE_RULES.find(({ applies }) => applies(facts));
  if (!rule) throw new Error(`BUG: no rule gives a state for ${JSON.stringify(facts)}`);
  return rule.state;
}

/**
 * Returns whether the host of the VM is told to run it. Otherwise the host takes it down. The SQL
 * function `vm_should_run` is the same rule.
 */
export function vmShouldRun({ desiredState, abandoned, observedState, pending }: VmFacts): boolean {
  return desiredState === 'running' && !abandoned && (observedState !== 'failed' || pending);
}

export type VmTransition = {
  event: string;
  by: 'api' | 'scheduler';
  meaning: string;
  /** Empty: the VM did not exist before. */
  from: readonly VmState[];
  /** Every state of `from` can lead to every state of `to`. Empty: the state does not change. */
  to: readonly (VmState | 'removed')[];
  /** The functions that make the transition, from the outermost to the one that writes. */
  functions: readonly string[];
  /** The columns of `vms`, and other tables, that change. */
  writes: string;
};

const POWER_COLUMNS = 'desired_state, power_action, generation; opens the operation';
const FAIL_COLUMNS = 'observed_generation, abandoned or observed_state; ends the operation';

export const VM_TRANSITIONS = [
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
    event: 'placed',
    by: 'scheduler',
    meaning: 'The scheduler found a host for the VM.',
    from: ['STATE_CREATING', 'STATE_STARTING'],
    to: [],
    functions: ['placePending', 'commitPlacements'],
    writes: 'placed; placements, device claims, address_claims',
  },
  {
    event: 'no_host_found',
    by: 'scheduler',
    meaning: 'No host has room for a new VM: it is removed.',
    from: ['STATE_CREATING'],
    to: ['STATE_DELETING'],
    functions: ['placePending', 'commitFailures', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'no_host_found',
    by: 'scheduler',
    meaning: 'No host has room for a VM that ran before: it returns to its previous state.',
    from: ['STATE_STARTING'],
    to: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
    functions: ['placePending', 'commitFailures', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'host_reported_running',
    by: 'scheduler',
    meaning: 'The host runs the VM as requested.',
    from: ['STATE_CREATING', 'STATE_STARTING', 'STATE_RESETTING', 'STATE_CRASHED'],
    to: ['STATE_RUNNING'],
    functions: ['settleReport', 'settleRunning', 'updateObservedVm'],
    writes: 'observed_state, observed_generation; ends the operation',
  },
  {
    event: 'host_reported_crash',
    by: 'scheduler',
    meaning: 'The VM ended during its first boot: the creation failed.',
    from: ['STATE_CREATING'],
    to: ['STATE_DELETING'],
    functions: ['settleReport', 'settleCrashed', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'host_reported_crash',
    by: 'scheduler',
    meaning: 'The VM ended by itself.',
    from: ['STATE_STARTING', 'STATE_RESETTING', 'STATE_RUNNING'],
    to: ['STATE_CRASHED'],
    functions: ['settleReport', 'settleCrashed', 'updateObservedVm'],
    writes: 'observed_state, observed_generation; ends the operation; adds an event',
  },
  {
    event: 'host_reported_failure',
    by: 'scheduler',
    meaning: 'The host cannot build a new VM: it is removed.',
    from: ['STATE_CREATING'],
    to: ['STATE_DELETING'],
    functions: ['settleReport', 'settleFailed', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'host_reported_failure',
    by: 'scheduler',
    meaning: 'The host cannot run a VM that ran before: the host takes it down.',
    from: ['STATE_STARTING', 'STATE_RESETTING', 'STATE_RUNNING', 'STATE_CRASHED'],
    to: ['STATE_ERROR'],
    functions: ['settleReport', 'settleFailed', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'host_reported_gone',
    by: 'scheduler',
    meaning: 'The host has stopped the VM and sent a receipt for each device.',
    from: ['STATE_STOPPING'],
    to: ['STATE_SHUTOFF'],
    functions: ['settleReport', 'settleGone', 'releasePlacement'],
    writes: 'placed, observed_state, observed_generation; the claims end; ends the operation',
  },
  {
    event: 'host_reported_gone',
    by: 'scheduler',
    meaning: 'The host has taken down a failed VM and sent a receipt for each device.',
    from: ['STATE_ERROR'],
    to: [],
    functions: ['settleReport', 'settleGone', 'releasePlacement'],
    writes: 'placed; the claims end',
  },
  {
    event: 'host_reported_gone',
    by: 'scheduler',
    meaning: 'The host has removed the VM and sent a receipt for each device.',
    from: ['STATE_DELETING'],
    to: ['removed'],
    functions: ['settleReport', 'settleGone', 'removeVm'],
    writes: 'the row; the claims end; ends the operation',
  },
  {
    event: 'removed_without_host',
    by: 'scheduler',
    meaning: 'The VM is to be removed and is on no host.',
    from: ['STATE_DELETING'],
    to: ['removed'],
    functions: ['settleWithoutHost', 'removeUnplacedVms', 'removeVm'],
    writes: 'the row; ends the operation',
  },
  {
    event: 'deadline_passed',
    by: 'scheduler',
    meaning: 'The creation took too long: the VM is removed.',
    from: ['STATE_CREATING', 'STATE_UNREACHABLE'],
    to: ['STATE_DELETING'],
    functions: ['endOverdueOperations', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'deadline_passed',
    by: 'scheduler',
    meaning:
      'The start took too long: STATE_ERROR if the VM is on a host, otherwise its previous state.',
    from: ['STATE_STARTING'],
    to: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
    functions: ['endOverdueOperations', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'deadline_passed',
    by: 'scheduler',
    meaning: 'The reset took too long: the VM probably runs.',
    from: ['STATE_RESETTING'],
    to: ['STATE_RUNNING'],
    functions: ['endOverdueOperations', 'failVm'],
    writes: FAIL_COLUMNS,
  },
  {
    event: 'deadline_passed',
    by: 'scheduler',
    meaning: 'A stop or deletion took too long: the operation fails and the host goes on with it.',
    from: ['STATE_STOPPING', 'STATE_DELETING'],
    to: [],
    functions: ['endOverdueOperations', 'failOperation'],
    writes: 'ends the operation',
  },
  {
    event: 'host_unreachable',
    by: 'scheduler',
    meaning: 'The host of the VM has had no connection for 30 seconds.',
    from: [
      'STATE_CREATING',
      'STATE_RUNNING',
      'STATE_STOPPING',
      'STATE_STARTING',
      'STATE_RESETTING',
      'STATE_CRASHED',
      'STATE_ERROR',
    ],
    to: ['STATE_UNREACHABLE'],
    functions: ['markUnreachable', 'updateVmsReachable'],
    writes: 'reachable; adds an event',
  },
  {
    event: 'host_reachable',
    by: 'scheduler',
    meaning: 'The host reports again: the VM returns to the state that its other facts give.',
    from: ['STATE_UNREACHABLE'],
    to: [
      'STATE_CREATING',
      'STATE_RUNNING',
      'STATE_STOPPING',
      'STATE_STARTING',
      'STATE_RESETTING',
      'STATE_CRASHED',
      'STATE_ERROR',
    ],
    functions: ['settleReport', 'markReachable', 'updateVmsReachable'],
    writes: 'reachable; adds an event',
  },
  {
    event: 'host_fenced',
    by: 'scheduler',
    meaning: 'An operator declared the host dead before the VM had run: it is removed.',
    from: ['STATE_CREATING', 'STATE_UNREACHABLE'],
    to: ['STATE_DELETING'],
    functions: ['fenceHosts', 'loseVm', 'failVm'],
    writes: `placed, reachable, ${FAIL_COLUMNS}; adds an event`,
  },
  {
    event: 'host_fenced',
    by: 'scheduler',
    meaning: 'An operator declared the host of a VM dead that should run.',
    from: ['STATE_STARTING', 'STATE_RESETTING', 'STATE_RUNNING', 'STATE_UNREACHABLE'],
    to: ['STATE_CRASHED'],
    functions: ['fenceHosts', 'loseVm', 'updateObservedVm'],
    writes: 'placed, reachable, observed_state, observed_generation; ends the operation',
  },
  {
    event: 'host_fenced',
    by: 'scheduler',
    meaning: 'An operator declared the host of a VM dead that should stop.',
    from: ['STATE_STOPPING', 'STATE_UNREACHABLE'],
    to: ['STATE_SHUTOFF'],
    functions: ['fenceHosts', 'loseVm', 'updateObservedVm'],
    writes: 'placed, reachable, observed_state, observed_generation; ends the operation',
  },
  {
    event: 'host_fenced',
    by: 'scheduler',
    meaning: 'An operator declared the host of a failed VM dead.',
    from: ['STATE_UNREACHABLE'],
    to: ['STATE_ERROR'],
    functions: ['fenceHosts', 'loseVm', 'releasePlacement'],
    writes: 'placed, reachable',
  },
] as const satisfies readonly VmTransition[];

export type VmEvent = (typeof VM_TRANSITIONS)[number]['event'];
/** What a tenant asks of a VM that exists. */
export type VmAction = Exclude<
  Extract<(typeof VM_TRANSITIONS)[number], { by: 'api' }>['event'],
  'CREATE'
>;

/** Returns why the api refuses the action for a VM in this state; null if it accepts the action. */
export function vmRefusal(action: VmAction, state: VmState): string | null {
  const accepted = VM_TRANSITIONS.flatMap(({ event, from }): readonly VmState[] =>
    event === action ? from : [],
  );
  if (accepted.includes(state)) return null;
  return `${action} is not possible while the VM is ${state}: it needs ${accepted.join(' or ')}`;
}
