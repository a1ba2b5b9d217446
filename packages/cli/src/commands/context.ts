import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { changeConfig, readConfig, type ServerContext } from '../config/config-file.ts';
import { findContext } from '../config/connect.ts';
import { printList, printOne } from '../terminal/print.ts';
import { contextNames } from './complete-names.ts';
import { argument, type OutputFlag, outputAlias, outputFlag } from './flags.ts';

/** What is shown of a context: never its secrets. */
type ShownContext = {
  name: string;
  current: boolean;
  server: string;
  login: string;
  project_id: string;
};

const name = argument('The context', 'name', contextNames);
const outputOnly = { flags: outputFlag, aliases: outputAlias } as const;

const list = buildCommand<OutputFlag, [], CliContext>({
  docs: { brief: 'List the contexts' },
  parameters: outputOnly,
  async func({ output }) {
    const { current, contexts } = await readConfig(this.process.env);
    const rows = Object.entries(contexts).map(([each, context]) => shown(each, context, current));
    printList(this, rows, {
      format: output,
      nothing: 'There is no context. Run: gantry login',
      columns: [
        { title: 'NAME', value: (row) => row.name },
        { title: 'CURRENT', value: (row) => (row.current ? 'yes' : '') },
        { title: 'SERVER', value: (row) => row.server },
        { title: 'LOGIN', value: (row) => row.login },
        { title: 'PROJECT', value: (row) => row.project_id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<OutputFlag, [string | undefined], CliContext>({
  docs: { brief: 'Show a context, or the current one' },
  parameters: {
    ...outputOnly,
    positional: { kind: 'tuple', parameters: [{ ...name, optional: true }] },
  },
  async func({ output }, wanted) {
    const { current } = await readConfig(this.process.env);
    const found = await findContext(this, wanted);
    const context = shown(found.name, found, current);
    const fields = [
      ['Name', context.name],
      ['Current', context.current ? 'yes' : 'no'],
      ['Server', context.server],
      ['Login', context.login],
      ['Project', context.project_id],
    ] as const;
    printOne(this, context, { format: output, fields });
  },
});

const use = buildCommand<NoFlags, [string], CliContext>({
  docs: { brief: 'Make a context the current one' },
  parameters: { positional: { kind: 'tuple', parameters: [name] } },
  async func(_, wanted) {
    await changeConfig(this.process.env, async (config, write) => {
      const { name: current } = await findContext(this, wanted);
      await write({ ...config, current });
    });
  },
});

const remove = buildCommand<NoFlags, [string], CliContext>({
  docs: {
    brief: 'Remove a context with its stored login',
    fullDescription:
      'Removes the login from this computer. An access key works until it is deleted on the server.',
  },
  parameters: { positional: { kind: 'tuple', parameters: [name] } },
  async func(_, wanted) {
    await changeConfig(this.process.env, async ({ current, contexts }, write) => {
      const { name: found } = await findContext(this, wanted);
      const { [found]: removed, ...rest } = contexts;
      await write({ current: found === current ? '' : current, contexts: rest });
    });
  },
});

type NoFlags = Record<never, never>;

export const contextRoutes = buildRouteMap({
  routes: { list, use, show, remove },
  docs: { brief: 'Servers and the logins that are stored for them' },
});

function shown(name: string, context: ServerContext, current: string): ShownContext {
  const { server, project_id, credential } = context;
  const login = 'email' in credential ? credential.email : 'access key';
  return { name, current: name === current, server, login, project_id };
}
