import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type VmAction, vmRefusal } from './actions.ts';
import { VM_STATE_RULES, VM_STATES, type VmState, type VmTransition } from './states.ts';
import { VM_TRANSITIONS } from './transitions.ts';

const root = path.join(import.meta.dirname, '../../../..');
const transitions: readonly VmTransition[] = VM_TRANSITIONS;

describe('the transition table', () => {
  it('reaches every state and leaves every state', () => {
    const reached = new Set(transitions.flatMap(({ to }) => to));
    const left = new Set(transitions.flatMap(({ from, to }) => (to.length > 0 ? from : [])));
    expect(VM_STATES.filter((state) => !reached.has(state) || !left.has(state))).toEqual([]);
  });

  it('names functions that exist', () => {
    const sources = productSources();
    const names = new Set(transitions.flatMap(({ functions }) => functions));
    const missing = [...names].filter((name) => !sources.includes(`function ${name}(`));
    expect(missing).toEqual([]);
  });

  it('is the source of docs/contributors/vm-life.md (`vitest -u` writes the file)', async () => {
    await expect(renderPage()).toMatchFileSnapshot(path.join(root, 'docs/contributors/vm-life.md'));
  });
});

describe('vmRefusal', () => {
  const accepted: [VmAction, VmState[]][] = [
    ['START', ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR']],
    ['STOP', ['STATE_RUNNING']],
    ['RESET', ['STATE_RUNNING']],
    ['MOVE', ['STATE_RUNNING']],
    ['CHANGE_TYPE', ['STATE_SHUTOFF']],
    ['ATTACH_DISKS', ['STATE_RUNNING', 'STATE_SHUTOFF']],
    ['DETACH_DISKS', ['STATE_RUNNING', 'STATE_SHUTOFF']],
    ['CHANGE_PUBLIC_ADDRESS', ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR']],
    ['DELETE', [...VM_STATES]],
  ];
  it.each(accepted)('accepts %s only in the states of the contract', (action, states) => {
    expect(VM_STATES.filter((state) => vmRefusal(action, state) === null).sort()).toEqual(
      states.sort(),
    );
  });

  it('names the action, the present state and the accepted states', () => {
    expect(vmRefusal('ATTACH_DISKS', 'STATE_CRASHED')).toBe(
      'ATTACH_DISKS is not possible while the VM is STATE_CRASHED: ' +
        'it needs STATE_RUNNING or STATE_SHUTOFF',
    );
  });
});

function productSources(): string {
  return ['api', 'db', 'scheduler']
    .flatMap((name) => {
      const folder = path.join(root, 'packages', name, 'src');
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => readFileSync(path.join(folder, file), 'utf8'));
    })
    .join('\n');
}

function renderPage(): string {
  return `<!-- Generated from packages/model/src/vm-life. To change it: npx vitest run --project unit packages/model -u -->

# The life of a VM

The source of this page is \`packages/model/src/vm-life\`. A test compares it with the database, the
api and the scheduler: \`test/scenarios/settle/vm-life-table.pg.test.ts\`.

## Facts and states

The api, the scheduler and the hosts write facts into the table \`vms\`. The generated column \`vms.state\`
derives the state from the facts. The first line whose condition is true determines the state.

${table(
  ['state', 'condition'],
  VM_STATE_RULES.map(({ state, condition }) => [code(state), condition]),
)}

## Transitions

The events in capitals are requests of a tenant. The api refuses a request in any state that is not
listed here. A report from an unreachable host is first a \`host_reachable\` event.

${table(
  ['event', 'by', 'from', 'to', 'meaning'],
  transitions.map(({ event, by, from, to, meaning }) => [
    code(event),
    by,
    states(from, 'the VM does not exist'),
    states(to, 'unchanged'),
    meaning,
  ]),
)}

## Functions and columns

${table(
  ['event', 'functions', 'writes'],
  distinct(
    transitions.map(({ event, functions, writes }) => [
      code(event),
      functions.map(code).join(' → '),
      writes,
    ]),
  ),
)}

A host that cannot build a VM for a reason of its own does not fail the request: \`relocate\` sets \`relocating\`, the host takes
the VM down, and the VM is placed on another host, which has the same time for it. Its state does not change meanwhile. Up to
three other hosts are tried, and only one after a start that timed out. Failures that every host would have, and VMs that cannot
move, end as the table says.

A VM in \`STATE_DELETING\` loses its devices one by one: \`releaseCleanDevices\` ends the claim on each device when its receipt
arrives. Its state and its operation do not change until it is gone.
`;
}

/** Pads the columns as the formatter does. */
function table(header: string[], rows: string[][]): string {
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const ruler = widths.map((width) => '-'.repeat(width));
  return [header, ruler, ...rows].map(line).join('\n');
}

function states(list: readonly string[], none: string): string {
  if (list.length === 0) return none;
  return list.length === VM_STATES.length ? 'every state' : list.map(code).join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function distinct(rows: string[][]): string[][] {
  return [...new Map(rows.map((row) => [row.join('|'), row])).values()];
}
