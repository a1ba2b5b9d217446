import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connect } from '../../config/connect.ts';
import { printOne } from '../../terminal/print.ts';
import { openPrompt } from '../../terminal/prompt.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { findHost, hostArgument, hostFields } from './host.ts';

type NameFlags = CommonFlags & { confirm: string | undefined };
type Statement = {
  call: 'fence' | 'liftStorageFence';
  /** What the operator does, as "to … the host". */
  verb: string;
  docs: { brief: string; fullDescription: string };
};

/** A command that cannot be undone: the operator has to type the name of the host. */
function statementCommand({ call, verb, docs }: Statement) {
  return buildCommand<NameFlags, [string], CliContext>({
    docs,
    parameters: {
      flags: {
        ...commonFlags,
        confirm: optionalText(
          ...(['The name of the host, if there is no terminal to type it on', 'name'] as const),
        ),
      },
      aliases: outputAlias,
      positional: hostArgument,
    },
    async func({ confirm: typed, ...flags }, wanted) {
      const { client } = await connect(this, flags);
      const { id: host_id, name } = await findHost(client, wanted);
      const confirm = typed ?? (await askName(this, name, verb));
      if (confirm !== name) throw new UsageError(`${confirm} is not ${name}: nothing was changed`);
      const host = await client.adminHosts[call]({ host_id, body: { confirm } });
      printOne(this, host, { format: flags.output, fields: hostFields(host) });
    },
  });
}

async function askName(cli: CliContext, name: string, verb: string): Promise<string> {
  const prompt = openPrompt(cli);
  try {
    if (!prompt.isInteractive) throw new UsageError(`to ${verb}, add: --confirm ${name}`);
    return (await prompt.ask(`Type the name of the host to ${verb} (${name})`)).trim();
  } finally {
    prompt.close();
  }
}

export const fenceHost = statementCommand({
  call: 'fence',
  verb: 'declare it dead',
  docs: {
    brief: 'Declare that a host is dead and will not return',
    fullDescription:
      'Power it off first: if it still runs, two copies of a VM could write to one shared disk. Disks in ' +
      'storage clusters are safe: the clusters refuse the host before its VMs are released. Its VMs ' +
      'can then start on other hosts, and its devices are not used again. You have to type its name.',
  },
});

export const liftStorageFence = statementCommand({
  call: 'liftStorageFence',
  verb: 'lift its fence in storage clusters',
  docs: {
    brief: 'State that no VM of before the fence runs on a fenced host',
    fullDescription:
      'Storage clusters then accept its address again. Never do it for a server that only hangs: when it ' +
      'wakes up, its VMs could write to disks that other hosts use. You have to type its name.',
  },
});
