import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connect } from '../../config/connect.ts';
import { printOne } from '../../terminal/print.ts';
import { hostNames } from '../complete-names.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { changeTags, parseTagChanges } from '../tags.ts';
import { findHost, hostFields } from './host.ts';

export const labelHost = buildCommand<CommonFlags, string[], CliContext>({
  docs: {
    brief: 'Change labels of a host',
    fullDescription:
      'key=value sets a label, and key- removes it. The other labels stay. The label rack says where ' +
      'the host is on the fleet map.',
    customUsage: ['HOST rack=r12', 'HOST rack-'],
  },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      ...({ kind: 'array', minimum: 2 } as const),
      parameter: argument('The name or the id of the host, then changes', 'host change', hostNames),
    },
  },
  async func(flags, wanted = '', ...typed) {
    const changes = parseTagChanges(typed);
    const { client } = await connect(this, flags);
    const { id: host_id } = await findHost(client, wanted);
    const host = await changeTags(
      {
        read: async (options) => (await client.adminHosts.get({ host_id }, options)).labels,
        write: (labels, options) =>
          client.adminHosts.change({ host_id, body: { labels } }, options),
      },
      changes,
    );
    printOne(this, host, { format: flags.output, fields: hostFields(host) });
  },
});
