import type { Schemas } from '@gantry/sdk';
import type { ProjectConnection } from '../../config/connect.ts';
import { diskNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';

type NewVmDisk = Schemas['NewVmDisk'];

/** A disk as it is typed: with a size it is created, without one it exists. */
export type GivenDisk = {
  name: string;
  size: string | undefined;
  settings: Omit<NewVmDisk, 'disk_id' | 'name' | 'size'>;
};

export const diskFlag = {
  kind: 'parsed',
  parse: parseDisk,
  variadic: true,
  optional: true,
  placeholder: 'disk',
  brief: 'A disk to attach, by name or id, or a new one as name=size; may be repeated',
  proposeCompletions: diskNames,
} as const;

/** The settings that may follow, after commas. Those of a new disk cannot be those of one that exists. */
const SETTINGS: Record<string, { setting: GivenDisk['settings']; isOfNew: boolean }> = {
  'mode=read-only': { setting: { mode: 'read-only' }, isOfNew: false },
  'mode=read-write': { setting: { mode: 'read-write' }, isOfNew: false },
  'type=persistent-ssd': { setting: { type: 'persistent-ssd' }, isOfNew: true },
  'type=shared-volume': { setting: { type: 'shared-volume' }, isOfNew: true },
  'block-size=512': { setting: { block_size: 512 }, isOfNew: true },
  'block-size=4096': { setting: { block_size: 4096 }, isOfNew: true },
};

/** Such as `data`, `data,mode=read-only`, `scratch=100GiB` or `scratch=100GiB,block-size=4096`. */
function parseDisk(text: string): GivenDisk {
  const [disk = '', ...typed] = text.split(',');
  const [, name, , size] = /^([^=]+)(=(.+))?$/.exec(disk) ?? [];
  if (name === undefined)
    throw new Error('a disk is written as its name or id, or as name=size if it is to be created');
  const settings = typed.map((each) => {
    const known = Object.hasOwn(SETTINGS, each) ? SETTINGS[each] : undefined;
    if (known === undefined)
      throw new Error(`${each} is not one of ${Object.keys(SETTINGS).join(', ')}`);
    if (known.isOfNew && size === undefined)
      throw new Error(`${each} needs a new disk: write ${name}=size`);
    return known.setting;
  });
  return { name, size, settings: Object.assign({}, ...settings) };
}

/** Finds the disks that exist. */
export async function chooseDisks(
  { client, project_id }: ProjectConnection,
  given: readonly GivenDisk[],
): Promise<NewVmDisk[]> {
  const isNeeded = given.some(({ size }) => size === undefined);
  const existing = isNeeded ? (await client.disks.list({ project_id })).items : [];
  return await Promise.all(
    given.map(async ({ name, size, settings }) =>
      size === undefined
        ? { disk_id: (await findByName('disk', name, existing)).id, ...settings }
        : { name, size, ...settings },
    ),
  );
}
