import { CATALOGUE } from '@gantry/model/vm-types';
import { describe, expect, it } from 'vitest';
import { makeDisk } from '../../testing/make-spec.ts';
import { passphraseUuidOf, secretUuidOf } from '../../volumes/secret-uuid.ts';
import { describeDomain } from './describe-domain.ts';
import { renderDisk, renderFilesystem } from './render-disk.ts';
import { renderDomain } from './render-domain.ts';
import { ARM_KVM, emulated, gpuServer, switchOf, vmOfType, X86_KVM } from './testing/gpu-server.ts';

const [SMALLEST] = CATALOGUE;
if (SMALLEST === undefined) throw new Error('the catalogue is empty');

/** `vitest -u` writes the golden files again. Read the difference before you accept it. */
describe.each([X86_KVM, ARM_KVM])('the domain on $arch', (platform) => {
  it.each(CATALOGUE)('of type $name is the golden one', async (type) => {
    const xml = renderDomain(describeDomain(vmOfType(type), gpuServer(platform)));
    await expect(xml).toMatchFileSnapshot(`golden/${platform.arch}/${type.name}.xml`);
  });

  it('with the blocks of a drive that stays with the host is the golden one', async () => {
    const partsOf = () => [
      { path: '/dev/nvme0n1', serial: 'S1' },
      { path: '/dev/nvme0n2', serial: 'S1' },
    ];
    const whole = vmOfType(SMALLEST);
    const vm = { ...whole, devices: whole.devices.filter(({ kind }) => kind !== 'gpu') };
    const xml = renderDomain(describeDomain(vm, gpuServer(platform, { partsOf })));
    await expect(xml).toMatchFileSnapshot(`golden/${platform.arch}/drive-as-blocks.xml`);
  });

  it('with GPUs below PCIe switches is the golden one', async () => {
    const vm = vmOfType({ cpuCores: 32, memoryGb: 128, gpuCount: 10, diskCount: 2 });
    const xml = renderDomain(describeDomain(vm, gpuServer(platform, { peersOf: switchOf })));
    await expect(xml).toMatchFileSnapshot(`golden/${platform.arch}/gpu-switches.xml`);
  });

  it('with limited volumes of a storage cluster is the golden one', async () => {
    const whole = vmOfType(SMALLEST);
    const disks = whole.disks.slice(0, 2).map((disk, index) => ({ ...disk, readOnly: index > 0 }));
    const tune = {
      total_iops_sec: '500',
      total_iops_sec_max: '900',
      total_iops_sec_max_length: '2',
    };
    const vm = {
      ...whole,
      devices: [],
      disks: disks.map((disk) => ({ ...disk, blockSize: 4_096, tune })),
    };
    const sourceOf = ({ id }: { id: string }) => ({
      ...{ type: 'rbd' as const, monitors: ['10.0.0.1:3300', '[fd00::2]:3300'], pool: 'vol' },
      ...{ image: id, user: `k-${id}`, secretUuid: secretUuidOf(`k-${id}`) },
      // One is encrypted, and one is not.
      passphraseUuid: id === disks[0]?.id ? passphraseUuidOf(`k-${id}`) : null,
      confFile: '/etc/ceph/gantry.conf',
    });
    const volumes = disks.map(({ id, sizeBytes }) => ({ id, sizeBytes }));
    const xml = renderDomain(describeDomain(vm, gpuServer(platform, { sourceOf, volumes })));
    await expect(xml).toMatchFileSnapshot(`golden/${platform.arch}/volumes.xml`);
  });

  it('without KVM and without devices is the golden one', async () => {
    const vm = { ...vmOfType(SMALLEST), devices: [], numaShares: [] };
    const host = gpuServer(emulated(platform), {
      vhostNet: false,
      directIo: false,
      lockMemory: false,
      mmio64Mib: 0,
      numaNodes: [],
    });
    const xml = renderDomain(describeDomain(vm, host));
    await expect(xml).toMatchFileSnapshot(`golden/${platform.arch}/emulated.xml`);
  });
});

describe('renderDomain', () => {
  const host = gpuServer(X86_KVM);
  const vm = vmOfType(SMALLEST);

  it('gives stand-ins to no guest, but stores them in the metadata', () => {
    const xml = renderDomain(describeDomain(vm, { ...host, partsOf: () => [] }));
    expect(xml).not.toContain('<hostdev');
    for (const { kind, address } of vm.devices)
      expect(xml).toContain(`<gantry:device kind='${kind}' address='${address}'/>`);
  });

  it('declares no clique if QEMU cannot, and shows the switches nevertheless', () => {
    const twin = vmOfType({ cpuCores: 8, memoryGb: 64, gpuCount: 2, diskCount: 0 });
    const render = (hasCliques: boolean) =>
      renderDomain(describeDomain(twin, { ...host, peersOf: switchOf, hasCliques }));
    expect(render(true).match(/x-nv-gpudirect-clique/g)).toHaveLength(2);
    expect(render(false)).not.toContain('x-nv-gpudirect-clique');
    expect(render(false).match(/pcie-switch-downstream-port/g)).toHaveLength(2);
  });

  it('keeps a disk that was attached while it ran in the same slot after its next start', () => {
    const data = makeDisk('data');
    const shared = makeDisk('shared', { kind: 'DISK_KIND_SHARED_VOLUME' });
    const definition = describeDomain({ ...vm, disks: [...vm.disks, data, shared] }, host);
    const xml = unindented(renderDomain(definition));
    for (const disk of definition.disks.slice(1)) {
      expect(xml).toContain(unindented(renderDisk(disk)));
    }
    for (const filesystem of definition.filesystems) {
      expect(xml).toContain(unindented(renderFilesystem(filesystem)));
    }
  });

  it('moves no other device when a disk is added', () => {
    const more = { ...vm, disks: [...vm.disks, makeDisk('data')] };
    const lines = renderDomain(describeDomain(vm, host)).split('\n');
    const added = renderDomain(describeDomain(more, host)).split('\n');
    expect(lines.filter((line) => !added.includes(line))).toEqual([]);
  });

  it('boots only from the first disk', () => {
    const xml = renderDomain(describeDomain(vm, host));
    expect(xml.match(/<boot order='1'\/>/g)).toHaveLength(1);
    expect(xml.indexOf('<boot order')).toBeLessThan(xml.indexOf("<target dev='vdb'"));
  });

  it('throws if a name cannot be written, instead of writing another', () => {
    const failing = () => renderDomain(describeDomain({ ...vm, name: 'a\u0000b' }, host));
    expect(failing).toThrow(expect.objectContaining({ code: 'unprintable_text' }));
  });
});

function unindented(xml: string): string {
  return xml.replace(/^ +/gm, '');
}
