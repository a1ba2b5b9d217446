import { programRunner } from '../../base/run-program.ts';

const run = programRunner('host_failed');
/** GPUs since Turing have another capability where earlier versions of QEMU put the clique's. */
const WITH_CLIQUES = '8.1.0';

/** Whether QEMU can declare the cliques of GPUs. An earlier one would refuse to start the guest. */
export async function hasCliques(emulator: string): Promise<boolean> {
  const version = parseQemuVersion(await run(emulator, ['--version']));
  return version !== undefined && !isOlder(version, WITH_CLIQUES);
}

export function parseQemuVersion(text: string): string | undefined {
  return /\d+\.\d+\.\d+/.exec(text)?.[0];
}

/** 9.10.0 is newer than 9.9.0. */
export function isOlder(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) < 0;
}
