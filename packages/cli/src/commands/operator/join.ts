import { buildCommand, numberParser } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connect } from '../../config/connect.ts';
import { printOne } from '../../terminal/print.ts';
import { hostNames, locationNames } from '../complete-names.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { findHost } from './host.ts';

type JoinFlags = CommonFlags & {
  location: string | undefined;
  host: string | undefined;
  hours: number | undefined;
  steps: boolean;
};

export const joinCommand = buildCommand<JoinFlags, [], CliContext>({
  docs: {
    brief: 'Print the line that lets a server join as a host (for operators)',
    fullDescription:
      'Paste it on the server. It installs the agent from the repository of the operator, examines the server, ' +
      'enrols it, starts the agent and waits until the host is ready. The token in it works once.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      location: optionalText('The location of a new host', 'location', locationNames),
      host: optionalText('A host that has to come back as itself', 'host', hostNames),
      hours: {
        ...({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'n' } as const),
        brief: 'How many hours the token works (default: 24)',
      },
      steps: {
        ...({ kind: 'boolean', default: false } as const),
        brief: 'Print the same as three commands',
      },
    },
    aliases: outputAlias,
  },
  async func({ location, host, hours, steps, ...flags }) {
    if ((location === undefined) === (host === undefined))
      throw new UsageError('give --location for a new host, or --host for one that comes back');
    const { client } = await connect(this, flags);
    const token = await client.adminJoinTokens.create({
      body: {
        ...(location !== undefined && { location }),
        ...(host !== undefined && { host_id: (await findHost(client, host)).id }),
        ...(hours !== undefined && { expires_in_hours: hours }),
      },
    });
    if (token.ca_sha256 === '')
      throw new UsageError(
        'no scheduler has started yet, so a host could not recognise it. Start one, then repeat this.',
      );
    if (flags.output !== 'table')
      return printOne(this, token, { format: flags.output, fields: [] });
    const lines = steps ? token.join_commands : [token.join_line];
    for (const line of lines) this.process.stdout.write(`${line}\n`);
    this.process.stderr.write(`The token works once, until ${token.expires_at}.\n`);
  },
});
