import type { Client, Schemas } from '@gantry/sdk';
import { buildCommand, numberParser } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printOne } from '../../terminal/print.ts';
import { diskNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';

type ScheduleFlags = CommonFlags & { every: number | undefined; keep: number };

const DEFAULT_KEPT = '7';

const positional = {
  kind: 'tuple',
  parameters: [argument('The name or the id of the disk', 'disk', diskNames)],
} as const;

async function diskKey(
  { client, project_id }: { client: Client; project_id: string },
  disk: string,
) {
  const { id: disk_id } = await findByName('disk', disk, client.disks.list({ project_id }));
  return { project_id, disk_id };
}

function fields({ every_hours, keep, next_at, last_backup_at }: Schemas['BackupSchedule']) {
  return [
    ['Every', `${every_hours} hours`],
    ['Keep', String(keep)],
    ['Next', next_at],
    ['Last backup', last_backup_at],
  ] as const;
}

export const scheduleDisk = buildCommand<ScheduleFlags, [string], CliContext>({
  docs: {
    brief: 'Show or set how often a disk is backed up',
    fullDescription:
      'Without --every it shows the schedule. A new schedule makes its first backup at once. Backups that it ' +
      'does not keep are removed, unless a kept one is based on them.',
    customUsage: ['data', 'data --every 24 --keep 7'],
  },
  parameters: {
    flags: {
      ...commonFlags,
      every: {
        ...({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'hours' } as const),
        brief: 'Back the disk up every so many hours',
      },
      keep: {
        ...({ kind: 'parsed', parse: numberParser, placeholder: 'n' } as const),
        ...{ default: DEFAULT_KEPT, brief: 'How many of these backups are kept' },
      },
    },
    ...{ aliases: outputAlias, positional },
  },
  async func({ every, keep, ...flags }, disk) {
    const connection = await connectToProject(this, flags);
    const key = await diskKey(connection, disk);
    const { backupSchedules } = connection.client;
    const schedule =
      every === undefined
        ? await backupSchedules.get(key)
        : await backupSchedules.set({ ...key, body: { every_hours: every, keep } });
    printOne(this, schedule, { format: flags.output, fields: fields(schedule) });
  },
});

export const unscheduleDisk = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Back a disk up no longer', fullDescription: 'Its backups stay.' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional },
  async func(flags, disk) {
    const connection = await connectToProject(this, flags);
    const key = await diskKey(connection, disk);
    const schedule = await connection.client.backupSchedules.delete(key);
    printOne(this, schedule, { format: flags.output, fields: fields(schedule) });
  },
});
