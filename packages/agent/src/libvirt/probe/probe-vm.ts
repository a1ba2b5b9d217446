import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { connect } from 'node-libvirt/connect';
import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { START } from 'node-libvirt/flags';
import { domainCreateXml, domainDestroyFlags } from 'node-libvirt/generated/procedures';
import { CHANGE_LIMIT, startLimit } from '../call-limits.ts';
import { domainName, type Platform, PROBE_VM_ID } from '../domain-xml/domain-definition.ts';
import { renderDomain } from '../domain-xml/render-domain.ts';
import { findDomain } from '../domains/libvirt-domains.ts';
import { CONSOLE_OUTPUT } from '../platform/boot-firmware.ts';
import { buildProbeVm, type ProbeFiles } from './probe-vm-parts.ts';

export type ProbeVmOptions = {
  platform: Platform;
  socketPath: string;
  dataDirectory: string;
  /** How long the firmware may take to print. */
  limitMs: number;
  /** Where libvirt writes the output of QEMU. */
  logDirectory?: string;
};

export type ProbeVmResult = {
  works: boolean;
  /** What was seen, as a clause. If it does not work: the error of libvirt or QEMU. */
  detail: string;
  durationMs: number;
};

const LOG_DIRECTORY = '/var/log/libvirt/qemu';
const PAUSE_MS = 100;

/**
 * Starts a VM from an image, as a tenant's VM is started: the image cache, an overlay, a seed, the
 * firmware, the same domain XML, libvirt with its security driver, and QEMU under its own user. It has
 * no network and no devices. It works when its firmware prints to the serial console.
 *
 * The domain is transient and ends with the connection (autodestroy), so that nothing runs on if the
 * doctor is killed. Everything else is in one directory, which the next probe removes first. It also
 * removes a domain that outlived a crash of libvirt.
 */
export async function startProbeVm(options: ProbeVmOptions): Promise<ProbeVmResult> {
  const startedMs = performance.now();
  const files: ProbeFiles = {
    directory: join(options.dataDirectory, 'probe'),
    firmwareDirectory: join(options.dataDirectory, 'firmware'),
  };
  const ended = (works: boolean, detail: string) => ({
    ...{ works, detail },
    durationMs: Math.round(performance.now() - startedMs),
  });
  const connection = await connect({ socketPath: options.socketPath, callTimeoutMs: 30_000 });
  try {
    await removeProbe(connection, files);
    await mkdir(files.directory, { recursive: true, mode: 0o711 });
    const { definition, memoryKib, serialLogPath } = await buildProbeVm(files, options.platform);
    const args = { xmlDesc: renderDomain(definition), flags: START.autodestroy };
    await connection.call(domainCreateXml, args, startLimit({ memoryKib, hostdevs: [] }));
    return ended(...(await untilPrinted(connection, { ...options, serialLogPath })));
  } catch (error) {
    return ended(false, error instanceof Error ? error.message : String(error));
  } finally {
    await removeProbe(connection, files).finally(() => connection.close());
  }
}

type Waiting = ProbeVmOptions & { serialLogPath: string };

async function untilPrinted(
  connection: Connection,
  { limitMs, serialLogPath, logDirectory = LOG_DIRECTORY }: Waiting,
): Promise<[works: boolean, detail: string]> {
  const untilMs = performance.now() + limitMs;
  for (;;) {
    const printed = (await unlessMissing(readFile(serialLogPath, 'latin1'))) ?? '';
    if (CONSOLE_OUTPUT.some((mark) => printed.includes(mark))) {
      return [true, 'its firmware printed to the console'];
    }
    if ((await findDomain(connection, PROBE_VM_ID)) === null) {
      return [false, `QEMU ended: ${await readLastError(logDirectory)}`];
    }
    if (performance.now() > untilMs) {
      return [false, `its firmware printed nothing within ${limitMs / 1_000} s`];
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** The last line that QEMU itself wrote; libvirt's own lines begin with a date. */
async function readLastError(logDirectory: string): Promise<string> {
  const file = join(logDirectory, `${domainName(PROBE_VM_ID)}.log`);
  const lines = ((await unlessMissing(readFile(file, 'utf8'))) ?? '').split('\n');
  const own = lines.filter((line) => line.includes('qemu-system') && !line.startsWith('/'));
  return own.at(-1)?.trim() ?? `see ${file}`;
}

async function removeProbe(connection: Connection, { directory }: ProbeFiles): Promise<void> {
  const domain = await findDomain(connection, PROBE_VM_ID);
  if (domain) {
    const args = { dom: domain.handle, flags: 0 };
    await connection.call(domainDestroyFlags, args, CHANGE_LIMIT).catch((error: unknown) => {
      if (!isLibvirtError(error, LIBVIRT_ERROR.noDomain)) throw error;
    });
  }
  await rm(directory, { recursive: true, force: true });
}
