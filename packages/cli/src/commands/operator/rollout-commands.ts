import { buildCommand, buildRouteMap, numberParser } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { RolloutPausedError, UsageError } from '../../cli-errors.ts';
import { connect } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { argument, type CommonFlags, commonFlags, outputAlias, requiredText } from '../flags.ts';
import { type Tag, tagFlag, tagObject } from '../tags.ts';
import {
  followRollout,
  type Rollout,
  rolloutColumns,
  rolloutFields,
  rolloutHostColumns,
} from './rollout.ts';

const count = (brief: string) =>
  ({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'n', brief }) as const;

type WaitFlag = { wait: boolean };
const waitFlag = {
  wait: {
    kind: 'boolean',
    default: true,
    brief: 'Show the progress until the rollout ends or pauses',
  },
} as const;

type CreateFlags = CommonFlags &
  WaitFlag & {
    version: string;
    label: readonly Tag[] | undefined;
    all: boolean;
    canaries: number | undefined;
    batch: number | undefined;
    limit: number | undefined;
    maxFailures: number | undefined;
  };

const create = buildCommand<CreateFlags, [], CliContext>({
  docs: {
    brief: 'Roll out a version of the agent to hosts, in waves',
    fullDescription:
      'VMs run on. The canaries come first, then the other hosts in batches. If more hosts than --max-failures ' +
      'fail, the rollout pauses. A host that does not come back in time installs its earlier version again.',
    customUsage: ['--version 0.2.0 --label rack=r12', '--version 0.2.0 --all --canaries 5'],
  },
  parameters: {
    flags: {
      ...{ ...commonFlags, ...waitFlag },
      version: requiredText('The version of the package gantry-agent', 'version'),
      label: tagFlag('Only hosts with this label; may be repeated'),
      all: { kind: 'boolean', default: false, brief: 'All hosts' },
      canaries: count('How many hosts are first (default: 1)'),
      batch: count('How many hosts are upgraded at a time (default: 10)'),
      limit: count('How many seconds a host has (default: 600)'),
      maxFailures: count('How many hosts may fail before it pauses (default: 0)'),
    },
    aliases: outputAlias,
  },
  async func({ version, label = [], all, canaries, batch, limit, maxFailures, wait, ...flags }) {
    if (label.length > 0 === all)
      throw new UsageError('give --label to select hosts, or --all for all hosts');
    const { client } = await connect(this, flags);
    const rollout = await client.adminRollouts.create({
      body: {
        ...{ version, labels: tagObject(label) },
        ...(canaries !== undefined && { canary_count: canaries }),
        ...(batch !== undefined && { batch_size: batch }),
        ...(limit !== undefined && { host_time_limit_seconds: limit }),
        ...(maxFailures !== undefined && { max_failures: maxFailures }),
      },
    });
    const last = wait ? await followRollout(this, client, rollout) : rollout;
    finish(this, last, flags);
  },
});

/** A rollout that was paused is not what the caller asked for. */
function finish(cli: CliContext, rollout: Rollout, flags: CommonFlags): void {
  printOne(cli, rollout, { format: flags.output, fields: rolloutFields(rollout) });
  if (rollout.state === 'paused')
    throw new RolloutPausedError(`the rollout is paused: ${rollout.state_reason}`);
}

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List rollouts, newest first' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client } = await connect(this, flags);
    const { items } = await client.adminRollouts.list({ limit: 100 });
    const nothing = 'There are no rollouts.';
    printList(this, items, { format: flags.output, columns: rolloutColumns, nothing });
  },
});

const rolloutArgument = {
  kind: 'tuple',
  parameters: [argument('The id of the rollout', 'rollout')],
} as const;

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a rollout, and the hosts that failed or were skipped' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: rolloutArgument },
  async func(flags, rollout_id) {
    const { client } = await connect(this, flags);
    const rollout = await client.adminRollouts.get({ rollout_id });
    const hosts = [];
    for await (const host of client.adminRollouts.hosts({ rollout_id, limit: 1000 }))
      hosts.push(host);
    if (flags.output !== 'table')
      return printOne(this, { ...rollout, items: hosts }, { format: flags.output, fields: [] });
    printOne(this, rollout, { format: flags.output, fields: rolloutFields(rollout) });
    const notable = hosts.filter(({ reason }) => reason !== '');
    if (notable.length === 0) return;
    this.process.stdout.write('\n');
    printList(this, notable, { format: 'table', columns: rolloutHostColumns, nothing: '' });
  },
});

type Change = 'pause' | 'resume' | 'cancel' | 'rollBack';

function changeCommand(change: Change, brief: string, fullDescription: string) {
  return buildCommand<CommonFlags & WaitFlag, [string], CliContext>({
    docs: { brief, fullDescription },
    parameters: {
      ...{ flags: { ...commonFlags, ...waitFlag }, aliases: outputAlias },
      positional: rolloutArgument,
    },
    async func({ wait, ...flags }, rollout_id) {
      const { client } = await connect(this, flags);
      const changed = await client.adminRollouts[change]({ rollout_id });
      const last = wait ? await followRollout(this, client, changed) : changed;
      if (change === 'pause')
        return printOne(this, last, { format: flags.output, fields: rolloutFields(last) });
      finish(this, last, flags);
    },
  });
}

export const rolloutRoutes = buildRouteMap({
  routes: {
    ...{ create, list, show },
    pause: changeCommand(
      'pause',
      'Begin with no further host',
      'Hosts that have begun finish. To continue: gantry rollout resume ROLLOUT',
    ),
    resume: changeCommand(
      'resume',
      'Continue a paused rollout',
      'The hosts that have failed so far are forgiven, and are not tried again.',
    ),
    cancel: changeCommand(
      'cancel',
      'End a rollout where it is',
      'Hosts that have begun finish, and the others are skipped. Hosts that have the version keep it.',
    ),
    rollBack: changeCommand(
      'rollBack',
      'Return hosts to the version that they had',
      'Every host that was told to change installs its earlier version, also after the rollout has ended.',
    ),
  },
  docs: { brief: 'Rollouts of agent versions (for operators)' },
});
