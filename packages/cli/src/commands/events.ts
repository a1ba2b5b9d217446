import type { StreamedEvent } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { connectToProject, type ProjectConnection } from '../config/connect.ts';
import { type OutputFormat, printList } from '../terminal/print.ts';
import { printable } from '../terminal/printable.ts';
import { whileInterruptible } from '../terminal/while-interruptible.ts';
import { renderYaml } from '../terminal/yaml.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from './flags.ts';

type EventsFlags = CommonFlags & { follow: boolean; after: string | undefined };

export const eventsCommand = buildCommand<EventsFlags, [], CliContext>({
  docs: {
    brief: 'List what happened without a request, or follow everything that happens',
    fullDescription:
      'With --follow, a lost connection continues where it was. As JSON, each event is a line; its ' +
      'id can be given to --after, to continue there later.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      follow: {
        ...({ kind: 'boolean', default: false, withNegated: false } as const),
        brief: 'Print operations, VMs and events as they happen',
      },
      after: optionalText('With --follow: begin after the event with this id', 'id'),
    },
    aliases: { ...outputAlias, f: 'follow' },
  },
  async func({ output, context, follow, after }) {
    if (after !== undefined && !follow) throw new UsageError('--after needs --follow');
    const connection = await connectToProject(this, { context });
    if (follow) await followEvents(this, connection, { output, after });
    else await listEvents(this, connection, output);
  },
});

async function listEvents(
  cli: CliContext,
  { client, project_id }: ProjectConnection,
  output: OutputFormat,
): Promise<void> {
  const { items } = await client.events.list({ project_id });
  printList(cli, items.toReversed(), {
    ...{ format: output, nothing: 'Nothing has happened without a request.' },
    columns: [
      { title: 'TIME', value: ({ created_at }) => created_at },
      { title: 'TYPE', value: ({ type }) => type },
      { title: 'MESSAGE', value: ({ message }) => message },
      { title: 'RESOURCE', value: ({ resource_id }) => resource_id, isExtra: true },
    ],
  });
}

async function followEvents(
  { process: { stdout, stderr } }: CliContext,
  { client, project_id }: ProjectConnection,
  { output, after }: { output: OutputFormat; after: string | undefined },
): Promise<void> {
  await whileInterruptible('stopped following', async (signal) => {
    const events = client.followEvents({ project_id }, { signal, lastEventId: after });
    for await (const event of events) {
      if (event.type === 'reset')
        stderr.write('Events were missed: the stream begins again here.\n');
      stdout.write(renderEvent(event, output));
    }
  });
}

/** The types `ready`, `reset` and `end` are about the stream itself: only programs get them. */
const ABOUT_STREAM = ['ready', 'reset', 'end'];

export function renderEvent(event: StreamedEvent, output: OutputFormat): string {
  if (output === 'json') return `${JSON.stringify(event)}\n`;
  if (output === 'yaml') return `---\n${renderYaml(event)}`;
  if (ABOUT_STREAM.includes(event.type)) return '';
  const { created_at, ...data } = event.data;
  return `${printable(`${created_at}  ${event.type.padEnd(9)}  ${eventText(event.type, data)}`)}\n`;
}

function eventText(type: string, data: Record<string, unknown>): string {
  const text = (name: string) => String(data[name] ?? '');
  if (type === 'operation') {
    const title = `${text('operation_name').toLowerCase()} ${text('resource_type')}`;
    const step = text('step') === 'ended' ? text('state').toLowerCase() : text('step');
    const failure = text('code') === '' ? '' : ` (${text('code')}: ${text('message')})`;
    return `${title} ${text('resource_id')}: ${step}${failure}`;
  }
  if (type === 'vm') {
    const state = data['deleted'] === true ? 'deleted' : text('state').replace('STATE_', '');
    return `${text('name')} ${state.toLowerCase()}`;
  }
  if (type === 'event') return `${text('type')}: ${text('message')}`;
  return JSON.stringify(data);
}
