import { ApiError } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connectToProject } from '../config/connect.ts';
import { printOne } from '../terminal/print.ts';
import { operationFields } from './finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show an operation' },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: { kind: 'tuple', parameters: [argument('The id of the operation', 'id')] },
  },
  async func(flags, operation_id) {
    const { client, project_id } = await connectToProject(this, flags);
    const { vmOperations, diskOperations, firewallRuleOperations } = client;
    const operation = await firstFound(
      [vmOperations, diskOperations, firewallRuleOperations].map(
        (operations) => () => operations.get({ project_id, operation_id }),
      ),
    );
    printOne(this, operation, { format: flags.output, fields: operationFields(operation) });
  },
});

/** An id does not tell what the operation is about. */
async function firstFound<T>(reads: readonly (() => Promise<T>)[]): Promise<T> {
  const [read, ...others] = reads;
  if (read === undefined) throw new Error('BUG: there is nothing to read');
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404 || others.length === 0) throw error;
    return await firstFound(others);
  }
}

export const operationRoutes = buildRouteMap({
  routes: { show },
  docs: { brief: 'Operations that commands have started' },
});
