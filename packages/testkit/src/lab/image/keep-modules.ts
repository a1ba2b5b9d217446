import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { readCompressed } from '@gantry/local/guest/initramfs';
import { moduleName, readDepends } from '@gantry/local/guest/kernel-modules';
import { runProgram } from '@gantry/local/guest/run-program';

/** Paths below kernel/ of modules that a GPU server uses or that this machine's devices need. */
const KEPT = [
  /^(arch|block|crypto|lib|mm|virt)\//,
  /^drivers\/(dax|iommu|md|nvdimm|nvme|vfio|vhost|virtio)\//,
  /^drivers\/block\/(loop|brd|null_blk|virtio_blk)/,
  /^drivers\/net\/(tun|tap|veth|dummy|macvlan|macvtap|virtio_net|vrf|vxlan|wireguard)/,
  /^drivers\/(char\/hw_random|char\/virtio_console|firmware\/|pci\/)/,
  /^drivers\/gpu\/drm\/(tiny\/bochs|virtio\/)/,
  /^fs\/(9p|autofs|configfs|efivarfs|ext4|fat|fuse|isofs|jbd2|nls|overlayfs|quota|xfs)/,
  /^net\/(8021q|9p|802|bridge|core|ipv4|ipv6|llc|netfilter|sched|vmw_vsock)\//,
  /^sound\/pci\/hda\/snd-hda-(intel|codec-generic)/,
];

/** Removes all modules except these and their dependencies. Returns the kernel's version. */
export async function keepModules(root: string): Promise<string> {
  const modules = path.join(root, 'usr/lib/modules');
  const [version = ''] = await readdir(modules);
  const kernel = path.join(modules, version, 'kernel');
  const files = (await readdir(kernel, { recursive: true })).filter((file) =>
    /\.ko(\.|$)/.test(file),
  );
  const byName = new Map(files.map((file) => [moduleName(file), file]));
  const kept = new Set<string>();
  const keep = async (name: string): Promise<void> => {
    const file = byName.get(name);
    if (file === undefined || kept.has(file)) return;
    kept.add(file);
    for (const next of readDepends(await readCompressed(path.join(kernel, file)))) await keep(next);
  };
  for (const [name, file] of byName)
    if (KEPT.some((pattern) => pattern.test(file))) await keep(name);
  for (const file of files) if (!kept.has(file)) await rm(path.join(kernel, file));
  await runProgram('depmod', ['-b', root, version]);
  return version;
}
