import path from 'node:path';
import { configFile, type Environment } from './config-file.ts';
import { changeJson, readJson } from './json-file.ts';

/**
 * Which private key opens a VM, by the id of the VM. The server does not keep the key that a VM was
 * created with, so the computer that created it remembers the file.
 */
type VmKeys = Record<string, string>;

const vmKeysFile = (env: Environment) => path.join(path.dirname(configFile(env)), 'vm-keys.json');

export async function vmKey(env: Environment, vmId: string): Promise<string | undefined> {
  return ((await readJson(vmKeysFile(env))) as VmKeys | undefined)?.[vmId];
}

/** Undefined removes the key. */
export async function rememberVmKey(
  env: Environment,
  vmId: string,
  file: string | undefined,
): Promise<void> {
  // Most VMs are opened by a key that ssh finds itself, and have nothing to forget.
  if (file === undefined && (await vmKey(env, vmId)) === undefined) return;
  await changeJson(vmKeysFile(env), async (write) => {
    const { [vmId]: _, ...others } = ((await readJson(vmKeysFile(env))) ?? {}) as VmKeys;
    await write(file === undefined ? others : { ...others, [vmId]: file });
  });
}
