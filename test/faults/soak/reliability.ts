import { CRASH_POINTS } from '../crash-points/list.ts';
import { INVARIANTS } from './checker.ts';
import { FAULTS } from './faults.ts';
import type { Outcome } from './schedule.ts';
import type { Standstill } from './standstills.ts';

/** Tests that choose their faults themselves. Most of them run by `npm run test:faults`. */
const MORE = [
  ['fault', 'what is shown', 'test'],
  [
    `a scheduler is killed before and after each of ${Object.values(CRASH_POINTS).flat().length} writes`,
    'nothing is left undone or done twice; a write that is not in the list fails the test',
    '`test/faults/crash-points`',
  ],
  [
    'an agent is killed before and after every change of its host',
    'the VM has the requested state, was started once, and nothing is left behind',
    '`packages/simulator/src/agent-crash-safety.test.ts`',
  ],
  [
    'a failover loses commits; an old backup is restored',
    'no VM is destroyed, every difference is listed, hosts accept specs, operations that succeed have their effect',
    '`test/faults/lost-commits`',
  ],
  [
    'PostgreSQL restarts; a scheduler is suspended',
    'operations stand still for the outage and one second; for six seconds',
    '`test/faults/standstill.faults.test.ts`',
  ],
  [
    'one host among ten fails at every VM',
    'creations succeed elsewhere, with a 99th percentile within twice that of a healthy fleet',
    '`test/faults/sick-host.faults.test.ts`',
  ],
];

/** Collects the outcomes of a run and writes docs/reliability.md. */
export class Reliability {
  readonly #outcomes: Outcome[] = [];
  readonly #replies = new Map<string, number>();
  readonly #standstills: Standstill[] = [];
  readonly #run: { seed: number; minutes: number };

  constructor(run: { seed: number; minutes: number }) {
    this.#run = run;
  }

  add(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    const { seed, faults, standstillMs, writes, problems } = outcome;
    const names = faults.map(({ name }) => name).join(' + ');
    const result = problems.length === 0 ? 'ok' : `BROKEN\n${problems.join('\n')}`;
    const figures = `${writes} writes, ${Math.round(standstillMs)} ms`;
    process.stdout.write(`${seed}: ${names}: ${figures}, ${result}\n`);
  }

  addStandstills(...standstills: Standstill[]): void {
    this.#standstills.push(...standstills);
    for (const { fault, standstillMs, limitMs, stallMs } of standstills)
      process.stdout.write(
        `${fault}: ${seconds(standstillMs)}, limit ${seconds(limitMs)}, stall ${seconds(stallMs)}\n`,
      );
  }

  addReplies(replies: ReadonlyMap<string, number>): void {
    for (const [reply, count] of replies)
      this.#replies.set(reply, (this.#replies.get(reply) ?? 0) + count);
  }

  /** Sentences about the schedules that broke an invariant. */
  broken(): string[] {
    return this.#outcomes.flatMap(({ seed, faults, problems }) =>
      problems.length === 0
        ? []
        : [`GANTRY_SOAK_SEED=${seed} (${faults.map(({ name }) => name)}): ${problems.join('; ')}`],
    );
  }

  page(): string {
    const writes = this.#outcomes.reduce((sum, outcome) => sum + outcome.writes, 0);
    const broken = this.#outcomes.filter(({ problems }) => problems.length > 0);
    return [
      '# Reliability',
      '',
      'This page is written by `npm run soak -- --minutes N`. Do not edit it.',
      '',
      `${this.#outcomes.length} random schedules in ${this.#run.minutes} minutes, seed ${this.#run.seed}, ` +
        `${writes} acknowledged writes, ${broken.length} schedules with a broken invariant.`,
      '',
      'A schedule runs on separate processes: two apis, three schedulers, three simulated hosts with real agents, and',
      'PostgreSQL with a streaming replica, with a TCP proxy between any two. Six clients write all the time while one or two',
      'faults are injected and healed. Then the clients stop, and the database and the hosts are compared.',
      '',
      '## Invariants',
      '',
      'Checked after every schedule:',
      '',
      ...INVARIANTS.map((invariant) => `- ${invariant}`),
      '',
      '## Faults',
      '',
      'The standstill is the longest time without a successful operation, from the beginning of the fault to the first success',
      'after it; the fault itself is included. Schedules with a second fault are not counted in it.',
      '',
      ...this.#table(),
      '',
      '## Limits of standstills',
      '',
      'Measured at the end of the run with the settings of production. The stall is the longest time for which the measuring',
      'process itself got no processor: a machine that is busy with other work adds it to the standstill.',
      '',
      ...this.#standstillTable(),
      '',
      '## More than random faults',
      '',
      ...renderTable(MORE),
      '',
    ].join('\n');
  }

  #standstillTable(): string[] {
    const rows = this.#standstills.map(({ fault, standstillMs, limitMs, stallMs }) => [
      ...[fault, seconds(standstillMs), seconds(limitMs), seconds(stallMs)],
      standstillMs <= limitMs
        ? 'within the limit'
        : standstillMs - stallMs <= limitMs
          ? 'within the limit without the stall'
          : 'ABOVE THE LIMIT',
    ]);
    return renderTable([['fault', 'longest standstill', 'limit', 'stall', 'result'], ...rows]);
  }

  #table(): string[] {
    const groups = [...new Set(FAULTS.map(({ group }) => group))];
    const rows = groups.map((group) => {
      const those = this.#outcomes.filter(({ faults }) =>
        faults.some((one) => one.group === group),
      );
      const alone = those.filter(({ faults }) => faults.length === 1);
      const worst = alone.reduce<Outcome | null>(
        (most, one) => (one.standstillMs > (most?.standstillMs ?? -1) ? one : most),
        null,
      );
      const broken = those.filter(({ problems }) => problems.length > 0).length;
      const how = FAULTS.find((fault) => fault.group === group)?.how ?? '';
      return [
        ...[group, how, `${those.length}`],
        those.length === 0 ? 'not run' : broken === 0 ? 'none broken' : `${broken} broke one`,
        worst ? seconds(worst.standstillMs) : '',
      ];
    });
    const head = ['fault', 'how it is injected', 'times', 'invariants', 'longest standstill'];
    return renderTable([head, ...rows]);
  }
}

/** Pads every column to its widest cell, like the tables of the other pages. */
function renderTable([head = [], ...rows]: string[][]): string[] {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
