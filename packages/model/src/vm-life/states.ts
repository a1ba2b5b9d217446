/**
 * The life of a VM: this file has its states and the facts they are derived from, actions.ts what a
 * tenant can do to a VM in which state, transitions.ts everything else that moves a VM from one state
 * to another.
 *
 * No process stores a VM's state. The api, the scheduler and the hosts write facts (`VmFacts`), and
 * the generated column `vms.state` derives the state from them. The tables of this folder describe
 * the same rules in TypeScript:
 * - the api decides with `vmRefusal` which actions it accepts in a state;
 * - test/scenarios/settle/vm-life-table.pg.test.ts compares `vmStateOf` and `vmShouldRun` with the database for
 *   every combination of facts, and compares `VM_TRANSITIONS` with what api and scheduler really do
 *   to a VM in every combination of facts that can occur;
 * - docs/contributors/vm-life.md is generated from this folder by vm-life.test.ts.
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
 * Returns whether the spec of the host asks it to run the VM. Otherwise the host takes it down. The SQL
 * function `vm_should_run` is the same rule.
 */
export function vmShouldRun({ desiredState, abandoned, observedState, pending }: VmFacts): boolean {
  return desiredState === 'running' && !abandoned && (observedState !== 'failed' || pending);
}

/** A row of the tables in actions.ts and transitions.ts. */
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
