import { describe, expect, it } from 'vitest';
import { describeDomain } from './describe-domain.ts';
import { readDomain } from './read-domain.ts';
import { renderDomain } from './render-domain.ts';
import { gpuServer, VM_ID, vmOfType, X86_KVM } from './testing/gpu-server.ts';

const vm = vmOfType({ cpuCores: 8, memoryGb: 64, gpuCount: 1, diskCount: 1 });
const ours = renderDomain(describeDomain(vm, gpuServer(X86_KVM, { generation: '3' })));

describe('readDomain', () => {
  it('returns everything that is stored with a domain', () => {
    expect(readDomain(ours)).toEqual({
      name: `gantry-${VM_ID}`,
      uuid: VM_ID,
      metadata: { vmId: VM_ID, revision: '7', generation: '3', devices: vm.devices, volumes: [] },
      disks: [
        expect.objectContaining({ id: vm.disks[0]?.id, target: 'vda', slot: 0, readOnly: false }),
        expect.objectContaining({ id: vm.disks[1]?.id, target: 'vdb', slot: 1 }),
        expect.objectContaining({ id: null, target: 'vdz', slot: null, serial: 'seed' }),
      ],
      filesystems: [
        {
          id: vm.disks[2]?.id,
          slot: 2,
          path: `/var/lib/gantry/shared/${vm.disks[2]?.id}`,
          readOnly: false,
        },
      ],
      interfaces: [{ mac: '02:5e:10:00:00:01', tap: 'gtap0123456789a' }],
      hostdevs: ['0000:21:00.0', '0000:21:00.1', '0000:61:00.0'],
      hardware: {
        ...{ machineType: 'q35', cpu: 'host-passthrough', accel: 'kvm' },
        ...X86_KVM.firmware,
      },
      memoryKib: Number(vm.memoryMib) * 1_024,
      vcpuPins: ['1', '65', '2', '66', '3', '67', '4', '68'],
      serialLogPath: `/var/log/gantry/serial/${VM_ID}.log`,
      iothreads: 1,
    });
  });

  it('recognises the metadata by its namespace under any prefix, and by nothing else', () => {
    const renamed = ours.replaceAll('gantry:', 'x:').replace('xmlns:gantry', 'xmlns:x');
    expect(readDomain(renamed).metadata?.vmId).toBe(VM_ID);
    const foreign = ours.replace('https://gantry.dev/xmlns/domain/1', 'https://example.org/1');
    expect(readDomain(foreign).metadata).toBeNull();
  });

  it('does not take a copy under another UUID for the original VM', () => {
    const uuid = 'aaaaaaaa-6a3e-4f0b-9c47-2b5d8e6f7a10';
    const copy = ours.replace(`<uuid>${VM_ID}</uuid>`, `<uuid>${uuid}</uuid>`);
    expect(readDomain(copy)).toMatchObject({ uuid, metadata: null });
  });

  it.each([
    ['a revision that is no number', "revision='7'", "revision='7a'"],
    ['no generation', "generation='3'", ''],
    ['a revision beyond 64 bits', "revision='7'", "revision='100000000000000000000'"],
  ])('ignores metadata with %s', (_name, part, instead) => {
    expect(readDomain(ours.replace(part, instead)).metadata).toBeNull();
  });

  it('reads a domain of another program as one without metadata', () => {
    const xml = `<domain type="xen" id="4"><name>db &amp; web</name><vcpu>3</vcpu>
      <cputune><vcpupin vcpu="1" cpuset="0-3"/></cputune><devices>
      <disk type="network" device="cdrom"><target dev="hdc"/></disk>
      <disk type="block"><source dev="/dev/sdb"/><target dev="sda"/></disk>
      <interface type="user"/><hostdev mode="subsystem" type="usb"><source/></hostdev>
      <hostdev type="pci"><source><address bus="0x0a" slot="0x1f" function="0x7"/></source></hostdev>
    </devices></domain>`;
    expect(readDomain(xml)).toEqual({
      name: 'db & web',
      uuid: '',
      metadata: null,
      disks: [
        {
          id: null,
          slot: null,
          target: 'hdc',
          path: '',
          secretUuid: null,
          passphraseUuid: null,
          serial: '',
          readOnly: false,
          tune: {},
        },
        {
          id: null,
          slot: null,
          target: 'sda',
          path: '/dev/sdb',
          secretUuid: null,
          passphraseUuid: null,
          serial: '',
          readOnly: false,
          tune: {},
        },
      ],
      filesystems: [],
      interfaces: [{ mac: '', tap: '' }],
      hostdevs: ['0000:0a:1f.7'],
      hardware: null,
      memoryKib: 0,
      vcpuPins: ['', '0-3', ''],
      serialLogPath: '',
      iothreads: 0,
    });
  });

  it.each(['<a/>', '<domain/>', '<domain><devices/><metadata>text</metadata></domain>'])(
    'reads a domain with only %s',
    (xml) => {
      expect(readDomain(xml)).toMatchObject({ metadata: null, disks: [], hostdevs: [] });
    },
  );
});
