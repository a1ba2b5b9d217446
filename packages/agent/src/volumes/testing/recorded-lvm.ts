import { HostFailure } from '../../base/failure.ts';
import type { RunProgram } from '../../base/run-program.ts';

type RecordedVolume = { sizeBytes: number; tags: Set<string>; isOpen: boolean };

export type RecordedLvm = {
  run: RunProgram;
  /** All commands that change something, one line each. */
  commands: string[];
  volumes: Map<string, RecordedVolume>;
  poolZeroes: boolean;
  /** How full the pool is, in percent: its data and its metadata. */
  poolUse: { data: number; metadata: number };
  /**
   * From this command on all fail, as if the agent had been killed; reading commands do not count.
   */
  dieAtCommand: number | null;
};

/** Replaces LVM: accepts the driver's commands and reports like `lvs`. */
export function recordLvm(): RecordedLvm {
  const lvm: RecordedLvm = {
    commands: [],
    volumes: new Map(),
    poolZeroes: true,
    poolUse: { data: 40, metadata: 2 },
    dieAtCommand: null,
    async run(program, args) {
      // Yields, as a real program would, so that other work runs in between.
      await new Promise(setImmediate);
      if (program === 'lvs') return report(lvm, args);
      if (lvm.dieAtCommand !== null && lvm.commands.length + 1 >= lvm.dieAtCommand) {
        throw new Error('killed');
      }
      lvm.commands.push([program, ...args].join(' '));
      change(lvm, program, args);
      return '';
    },
  };
  return lvm;
}

function report(lvm: RecordedLvm, args: readonly string[]): string {
  const { volumes, poolZeroes, poolUse } = lvm;
  const pool = {
    zero: poolZeroes ? 'zero' : '',
    data_percent: poolUse.data.toFixed(2),
    metadata_percent: poolUse.metadata.toFixed(2),
  };
  const lv = args.includes('zero,data_percent,metadata_percent')
    ? [pool]
    : [...volumes].map(([name, { sizeBytes, tags, isOpen }]) => ({
        ...{ lv_name: name, lv_size: String(sizeBytes) },
        ...{ lv_tags: [...tags].join(','), lv_device_open: isOpen ? 'open' : '' },
      }));
  return JSON.stringify({ report: [{ lv }] });
}

function change({ volumes }: RecordedLvm, program: string, args: readonly string[]): void {
  const after = (option: string) => args[args.indexOf(option) + 1] ?? '';
  const sizeBytes = Number.parseInt(
    after(args.includes('--size') ? '--size' : '--virtualsize'),
    10,
  );
  const name = (args.at(-1) ?? '').replace(/^.*\//, '');
  const cloned = args.includes('--snapshot') ? volumes.get(name) : undefined;
  if (args.includes('--snapshot') && !cloned) throw new HostFailure('storage_failed', 'no origin');
  switch (program) {
    case 'lvcreate':
      if (volumes.has(after('--name'))) throw new HostFailure('storage_failed', 'it exists');
      volumes.set(after('--name'), {
        sizeBytes: cloned?.sizeBytes ?? sizeBytes,
        tags: new Set([after('--addtag')]),
        isOpen: false,
      });
      return;
    case 'lvchange':
      if (args.includes('--addtag')) volumes.get(name)?.tags.add(after('--addtag'));
      else volumes.get(name)?.tags.delete(after('--deltag'));
      return;
    case 'lvextend':
      Object.assign(volumes.get(name) ?? {}, { sizeBytes });
      return;
    case 'lvremove':
      if (volumes.get(name)?.isOpen) throw new HostFailure('storage_failed', 'in use');
      volumes.delete(name);
      return;
    case 'lvrename': {
      const renamed = volumes.get(args.at(-2) ?? '');
      if (!renamed || volumes.has(name)) throw new HostFailure('storage_failed', 'not renamed');
      volumes.delete(args.at(-2) ?? '');
      volumes.set(name, renamed);
    }
  }
}
