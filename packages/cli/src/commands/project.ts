import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { changeConfig } from '../config/config-file.ts';
import { connect } from '../config/connect.ts';
import { printList } from '../terminal/print.ts';
import { projectNames } from './complete-names.ts';
import { findByName } from './find-by-name.ts';
import {
  argument,
  type CommonFlags,
  type ContextFlag,
  commonFlags,
  contextFlag,
  outputAlias,
} from './flags.ts';

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the projects that you may use' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, context } = await connect(this, flags);
    const current = context?.project_id ?? (await client.root.get()).project_id;
    printList(this, await client.projects.list(), {
      ...{ format: flags.output, nothing: 'You belong to no project.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'CURRENT', value: ({ id }) => (id === current ? 'yes' : '') },
        { title: 'ID', value: ({ id }) => id },
        { title: 'ORGANIZATION', value: (row) => row.organization_id, isExtra: true },
      ],
    });
  },
});

const use = buildCommand<ContextFlag, [string], CliContext>({
  docs: { brief: 'Make a project that of the context' },
  parameters: {
    flags: contextFlag,
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'project', projectNames)],
    },
  },
  async func(flags, wanted) {
    const { client, context } = await connect(this, flags);
    if (context === undefined)
      throw new UsageError('an access key belongs to one project: there is no context to change');
    const { id, name } = await findByName('project', wanted, client.projects.list());
    await changeConfig(this.process.env, async (config, write) => {
      const stored = config.contexts[context.name];
      if (stored === undefined) throw new UsageError(`there is no context ${context.name}`);
      const changed = { ...stored, project_id: id };
      await write({ ...config, contexts: { ...config.contexts, [context.name]: changed } });
    });
    this.process.stdout.write(`The project of the context ${context.name} is ${name}.\n`);
  },
});

export const projectRoutes = buildRouteMap({
  routes: { list, use },
  docs: { brief: 'Projects' },
});
