import { ExecError } from '@gantry/daemon/exec';
import { HostFailure } from '../../base/failure.ts';
import type { RunProgram } from '../../base/run-program.ts';

/** The project of a directory. 0 is the project of everything that has no other. */
export type Project = {
  id: number;
  /** Whether what is created in the directory gets the project too. */
  isInherited: boolean;
};

export type ProjectLimit = { kib: number; inodes: number };
/** What `setquota` takes for "no limit". */
export const NO_LIMIT: ProjectLimit = { kib: 0, inodes: 0 };

/** Long enough for a directory with very many files. */
const RECURSION_LIMIT_MS = 120_000;
const HEADER = 'Project,BlockStatus,FileStatus,BlockUsed,';
/** Used, soft limit and hard limit of blocks, and the same of files. */
const AMOUNTS = [3, 4, 5, 7, 8, 9];

/**
 * Projects and their limits, through the programs of the packages `e2fsprogs` and `quota`. They do the same on ext4 and
 * XFS; Node has neither `ioctl` nor `quotactl`.
 */
export function projectPrograms(runProgram: RunProgram) {
  const run: RunProgram = (program, args, options) =>
    runProgram(program, args, options).catch((error: unknown) => Promise.reject(named(error)));

  return {
    async readProject(path: string): Promise<Project> {
      return parseProject(await run('lsattr', ['-p', '-d', path]));
    },

    async assign(path: string, id: number): Promise<void> {
      await run('chattr', ['-p', String(id), '+P', path]);
    },

    /** Assigns everything below the directory. Only files and directories have a project that can be changed. */
    async assignBelow(path: string, id: number): Promise<void> {
      const chattr = (...options: string[]) => [
        ...['-exec', 'chattr', '-p', String(id), ...options, '{}', '+'],
      ];
      const directories = ['-type', 'd', ...chattr('+P')];
      const files = ['-type', 'f', ...chattr()];
      const args = [path, '-mindepth', '1', ...directories, '-o', ...files];
      await run('find', args, { timeoutMs: RECURSION_LIMIT_MS });
    },

    /** Returns how many entries are below the directory, and stops counting above `most`. */
    async countBelow(path: string, most: number): Promise<number> {
      const script = 'find "$1" -mindepth 1 -printf . | head -c "$2" | wc -c';
      return Number(await run('sh', ['-c', script, 'sh', path, String(most + 1)]));
    },

    /** Returns every project that has a limit or uses something, also those of other programs. */
    async listUsed(mountPoint: string): Promise<Set<number>> {
      // Without -v it leaves out projects that have a limit and use nothing.
      return parseUsed(await run('repquota', ['-P', '-n', '-v', '-O', 'csv', mountPoint]));
    },

    async limit(mountPoint: string, id: number, { kib, inodes }: ProjectLimit): Promise<void> {
      await run('setquota', ['-P', String(id), '0', String(kib), '0', String(inodes), mountPoint]);
    },
  };
}

export type ProjectPrograms = ReturnType<typeof projectPrograms>;

/** "1073741830 --------------e----P-- /srv/shared/d/data" */
export function parseProject(text: string): Project {
  const [, id, flags] = /^\s*(\d+)\s+([-A-Za-z]+)\s/.exec(text) ?? [];
  if (id === undefined || flags === undefined) {
    throw new HostFailure('storage_failed', `lsattr shows no project: ${text.trim()}`);
  }
  return { id: Number(id), isInherited: flags.includes('P') };
}

export function parseUsed(text: string): Set<number> {
  const lines = text.split('\n');
  if (!lines.some((line) => line.startsWith(HEADER))) {
    // An empty report would make every project look free.
    throw new HostFailure('storage_failed', `repquota shows no projects: ${text.trim()}`);
  }
  const used = new Set<number>();
  for (const line of lines) {
    const id = /^#?(\d+),/.exec(line)?.[1];
    const fields = line.split(',');
    // XFS also shows projects that were used once.
    if (id !== undefined && AMOUNTS.some((index) => Number(fields[index]) !== 0)) {
      used.add(Number(id));
    }
  }
  return used;
}

function named(error: unknown): unknown {
  const cause = error instanceof HostFailure ? error.cause : undefined;
  if (!(cause instanceof ExecError) || cause.reason !== 'not installed') return error;
  return new HostFailure(
    'storage_unsupported',
    'the file system of shared volumes enforces project quotas, and this host lacks a program that sets them: ' +
      'apt-get install quota e2fsprogs',
    { cause },
  );
}
