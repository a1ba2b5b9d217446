import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackages, listPackages } from '@gantry/local/guest/fetch-packages';
import { unpackPackages } from '@gantry/local/guest/unpack';
import { openPrivateApt } from '../image/private-apt.ts';
import { readTarget } from '../image/target.ts';
import type { Lab } from '../machine/start-lab.ts';

const directory = fileURLToPath(new URL('../../../../../.gantry/lab-firmware', import.meta.url));
const SUITE = 'trixie';

/**
 * Gives the server of an x64 lab the UEFI firmware of Debian 13, with which its VMs boot. In a VM of an
 * emulated server, that of Debian 12 (2022.11) prints nothing in seven minutes, because it waits for a
 * TPM that is not there. The firmware is part of the server's disk afterwards, also after a reset.
 */
export async function installGuestFirmware(lab: Pick<Lab, 'ask' | 'share'>): Promise<void> {
  const { architecture } = await readTarget();
  const { debian } = architecture;
  if (debian !== 'amd64') return;
  await mkdir(directory, { recursive: true });
  const state = path.join(directory, 'apt');
  const apt = await openPrivateApt({ state, debian, suites: [SUITE] });
  // The package depends on no other.
  const choose = async (roots: readonly string[]) => [...roots];
  const packages = await listPackages(['ovmf'], path.join(directory, 'packages.json'), {
    ...{ choose, apt },
  });
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const kept = path.join(directory, 'packages');
    const debs = await fetchPackages(packages, { directory: kept, workspace, apt });
    const root = path.join(workspace, 'root');
    await unpackPackages(debs, root);
    const firmware = path.join(lab.share, 'firmware');
    await cp(path.join(root, 'usr/share/OVMF'), firmware, { recursive: true });
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
  await lab.ask('cp /share/firmware/OVMF_*_4M.fd /usr/share/OVMF/ && sync');
}
