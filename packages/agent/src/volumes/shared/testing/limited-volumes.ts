import { join } from 'node:path';
import { MIB } from '@gantry/daemon/units';
import { programRunner, type RunProgram } from '../../../base/run-program.ts';
import type { DiskSpec } from '../../../spec.ts';
import { makeDisk } from '../../../testing/make-spec.ts';
import type { VolumeDriver } from '../../volume-driver.ts';
import { ProjectLimits } from '../project-limits.ts';
import { projectPrograms } from '../project-programs.ts';
import { readQuotaMount } from '../quota-mount.ts';
import { sharedDriver } from '../shared-driver.ts';

export const runForReal = programRunner('storage_failed');

export type LimitedVolumes = VolumeDriver & {
  /** Marks these disks as in use according to the hypervisor. */
  inUse: Set<string>;
  /** The problems that were logged. */
  problems: string[];
};

type Options = { directory: string; run?: RunProgram; mostEntries?: number; start?: number };

/** The shared volumes of one agent in a directory, with the programs of this machine. */
export function openLimitedVolumes({ directory, run = runForReal, ...options }: Options) {
  const inUse = new Set<string>();
  const problems: string[] = [];
  const limits = new ProjectLimits({
    programs: projectPrograms(run),
    readMount: () => readQuotaMount(directory),
    ...options,
  });
  const warn = (fields: unknown) => {
    const { problem, error } = fields as { problem?: string; error?: unknown };
    problems.push(problem ?? String(error));
  };
  const volumes = sharedDriver({
    ...{ directory, limits, isInUse: async (id) => inUse.has(id) },
    log: { warn },
  });
  const opened: LimitedVolumes = { ...volumes, inUse, problems };
  return opened;
}

export const sharedDisk = (id: string, sizeMib: number): DiskSpec =>
  makeDisk(id, { kind: 'DISK_KIND_SHARED_VOLUME', sizeBytes: String(sizeMib * MIB) });

export const dataOf = (directory: string, id: string) => join(directory, id, 'data');
