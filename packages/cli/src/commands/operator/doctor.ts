import type { Client } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connect } from '../../config/connect.ts';
import { EXIT } from '../../exit-codes.ts';
import { printList } from '../../terminal/print.ts';
import type { Style } from '../../terminal/style.ts';
import { type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import {
  checkHosts,
  checkOrphans,
  checkOwnOperations,
  checkSummary,
  type Finding,
} from './checks.ts';

const STYLES: Record<Finding['result'], Style> = { ok: 'green', warn: 'yellow', fail: 'red' };

export const doctorCommand = buildCommand<CommonFlags, [], CliContext>({
  docs: {
    brief: 'Check the server, your login, and for operators the whole fleet',
    fullDescription:
      'Prints ok, warn or fail for each check. The exit code is 8 if a check failed. A host checks its ' +
      'own hardware with the doctor of its agent.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, server } = await connect(this, flags);
    const { version, user, project_id } = await client.root.get();
    const who = user.email === '' ? `an access key of the project ${project_id}` : user.email;
    const role = user.operator ? `, operator (${user.operator_role})` : '';
    const findings: Finding[] = [
      { result: 'ok', check: 'server replies', message: `${server}, API ${version}` },
      { result: 'ok', check: 'login works', message: `${who}${role}` },
      ...(user.operator ? await checkFleet(client) : [await checkOwnOperations(client)]),
    ];
    printList(this, findings, {
      ...{ format: flags.output, nothing: '' },
      columns: [
        { title: 'RESULT', value: ({ result }) => result, style: ({ result }) => STYLES[result] },
        { title: 'CHECK', value: ({ check }) => check },
        { title: 'FOUND', value: ({ message }) => message },
      ],
    });
    if (findings.some(({ result }) => result === 'fail')) this.process.exitCode = EXIT.unhealthy;
  },
});

async function checkFleet(client: Client): Promise<Finding[]> {
  return [
    ...(await checkHosts(client)),
    await checkOrphans(client),
    ...(await checkSummary(client)),
  ];
}
