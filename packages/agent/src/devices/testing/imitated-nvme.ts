import { readFile, writeFile } from 'node:fs/promises';

/** What nvme-cli reports of a drive besides its data. */
export type ImitatedSetup = {
  lbaf: number;
  protection: number;
  namespaces: number[];
  writeCache: number;
  firmwareSlot: number;
};

export const AS_DELIVERED: ImitatedSetup = {
  lbaf: 0,
  protection: 0,
  namespaces: [1],
  writeCache: 1,
  firmwareSlot: 1,
};

/** Reads and changes the setup of drives as nvme-cli does. */
export class ImitatedNvme {
  /** The setup of every drive. */
  setup = AS_DELIVERED;
  /** Whether drives ignore changes of their setup. */
  keepsSetup = false;

  change(change: Partial<ImitatedSetup>): void {
    if (!this.keepsSetup) this.setup = { ...this.setup, ...change };
  }

  /** Returns what nvme-cli prints, or null if the command is not about the setup. */
  reply(command: string, args: readonly string[]): string | null {
    const { lbaf, protection, namespaces, writeCache, firmwareSlot } = this.setup;
    switch (command) {
      case 'id-ns': {
        const lbafs = [9, 12].map((ds) => ({ ms: ds === 12 ? 8 : 0, ds }));
        return JSON.stringify({ flbas: lbaf, dps: protection, lbafs });
      }
      case 'list-ns':
        return JSON.stringify({ nsid_list: namespaces.map((nsid) => ({ nsid })) });
      case 'get-feature':
        requireWriteCache(args);
        return `get-feature:0x06 (Volatile Write Cache), Current value:0x0000000${writeCache}`;
      case 'set-feature':
        requireWriteCache(args);
        this.change({ writeCache: numberOf(args, '--value') ?? writeCache });
        return '';
      case 'fw-log':
        return JSON.stringify({ nvme0: { 'Active Firmware Slot (afi)': firmwareSlot } });
      default:
        return null;
    }
  }

  /** A format without options keeps the present ones. */
  format(args: readonly string[]): void {
    const { lbaf, protection } = this.setup;
    this.change({
      lbaf: numberOf(args, '--lbaf') ?? lbaf,
      protection: numberOf(args, '--pi') ?? protection,
    });
  }
}

/** The drives have one feature. */
function requireWriteCache(args: readonly string[]): void {
  if (!args.includes('--feature-id=0x06')) throw new Error('NVMe status: Invalid Field in Command');
}

function numberOf(args: readonly string[], option: string): number | undefined {
  const [, value] = args.find((arg) => arg.startsWith(`${option}=`))?.split('=') ?? [];
  return value === undefined ? undefined : Number(value);
}

/** Erases a drive, which is a file. */
export async function zero(path: string): Promise<void> {
  const { length } = await readFile(path);
  await writeFile(path, Buffer.alloc(length));
}
