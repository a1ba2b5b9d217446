import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiskSpec, VmSpec } from '../../spec.ts';
import { passphraseUuidOf, secretUuidOf } from '../../volumes/secret-uuid.ts';
import { describeDomain } from './describe-domain.ts';
import { readDomain } from './read-domain.ts';
import { targetOfSlot } from './render-disk.ts';
import { renderDomain } from './render-domain.ts';
import { ARM_KVM, emulated, gpuServer, X86_KVM } from './testing/gpu-server.ts';

const uint64 = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(String);
const uuid = fc.uuid();
/**
 * Any text that a person can type, including XML. The api refuses line and paragraph separators.
 */
const text = fc.oneof(
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 63 })
    .filter((typed) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(typed)),
  fc.constantFrom('</title>', '&amp;', `'"><hostdev/>`, ']]>', '<!--', ' leading and trailing '),
);
const pciAddress = fc
  .tuple(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0xff }))
  .map(([domain, bus]) => `${hex(domain, 4)}:${hex(bus, 2)}:00.0`);
const devices = fc.uniqueArray(
  fc.record({ kind: fc.constantFrom('gpu' as const, 'drive' as const), address: pciAddress }),
  { selector: ({ address }) => address, maxLength: 40 },
);

const name = fc.stringMatching(/^[a-z0-9][\w.-]{0,40}$/);

const disk: fc.Arbitrary<DiskSpec> = fc.record({
  id: uuid,
  kind: fc.constantFrom('DISK_KIND_PERSISTENT_SSD', 'DISK_KIND_SHARED_VOLUME'),
  sizeBytes: uint64,
  readOnly: fc.boolean(),
  blockSize: fc.constantFrom(0, 512, 4_096),
  serialNumber: text,
  name: fc.constant(''),
  exists: fc.boolean(),
  tune: fc.constantFrom({}, { total_iops_sec: '5', write_bytes_sec: '2' }),
  cephfs: fc.constant(null),
  rbd: fc.option(
    fc.record({
      monitors: fc.array(fc.constantFrom('10.0.0.1:3300', '[fd00::1]:6789'), { minLength: 1 }),
      ...{ pool: name, image: name, user: name, key: fc.constant('QVFCc2VjcmV0') },
      passphrase: fc.constantFrom('', 'correct-horse'),
    }),
  ),
});

const iface = fc.record({
  id: uuid,
  networkId: uuid,
  mac: fc
    .integer({ min: 0, max: 2 ** 32 })
    .map((n) => `02:${hex(n, 10).replace(/..(?!$)/g, '$&:')}`),
  privateIpv4: fc.constant('10.0.0.5/24'),
  gatewayIpv4: fc.constant(''),
  publicIpv4: fc.constant(''),
  bandwidthMbps: fc.constant(0),
});

/** Shares that add up to the whole VM, as on the wire. */
const shares = fc.uniqueArray(
  fc.record({
    node: fc.integer({ min: 0, max: 7 }),
    cpuCores: fc.integer({ min: 0, max: 64 }),
    memoryMib: fc.integer({ min: 0, max: 1_000_000 }),
  }),
  { selector: ({ node }) => node, maxLength: 8 },
);

const vmSpec: fc.Arbitrary<VmSpec> = fc
  .record({
    id: uuid,
    revision: uint64,
    generation: uint64,
    name: fc.oneof(fc.constant(''), text),
    cpuCores: fc.integer({ min: 1, max: 512 }),
    memoryMib: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    devices,
    disks: fc.uniqueArray(disk, { selector: ({ id }) => id, minLength: 1, maxLength: 16 }),
    interfaces: fc.array(iface, { maxLength: 8 }),
    image: fc.constant(null),
    sshPublicKey: fc.constant(''),
    sshKeys: fc.constant<string[]>([]),
    userData: fc.constant(''),
    startupScript: fc.constant(''),
    shutdownScript: fc.constant(''),
    ...{ projectId: fc.constant(''), type: fc.constant(''), imageId: fc.constant('') },
    nestedVirtualization: fc.boolean(),
    numaShares: shares,
    needs: fc.constant<string[]>([]),
  })
  .map((vm) => {
    const cpuCores = sum(vm.numaShares.map((share) => share.cpuCores));
    const memoryMib = sum(vm.numaShares.map((share) => share.memoryMib));
    return cpuCores > 0 && memoryMib > 0
      ? { ...vm, cpuCores, memoryMib }
      : { ...vm, numaShares: [] };
  });

const platform = fc.constantFrom(X86_KVM, ARM_KVM, emulated(X86_KVM), emulated(ARM_KVM));

describe('every spec', () => {
  it('is read back from its domain unchanged', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(vmSpec, platform, text, (vm, chosen, folder) => {
        const host = gpuServer(chosen, {
          generation: vm.generation,
          volumes: vm.disks.map(({ id, sizeBytes }) => ({ id, sizeBytes })),
          sourceOf: ({ id, kind, rbd }) => {
            if (kind === 'DISK_KIND_SHARED_VOLUME')
              return { type: 'directory', path: `/${folder}/${id}` };
            if (rbd) {
              const { key: _, passphrase, ...open } = rbd;
              const confFile = '/etc/ceph/gantry.conf';
              const secretUuid = secretUuidOf(rbd.user);
              const passphraseUuid = passphrase === '' ? null : passphraseUuidOf(rbd.user);
              return { type: 'rbd', ...open, secretUuid, passphraseUuid, confFile };
            }
            return {
              ...{ type: 'file', path: `/${folder}/${id}.qcow2`, format: 'qcow2' },
              backing: { path: `/${folder}/image.img`, format: 'raw' },
            };
          },
          partsOf: (address) => [{ functions: [address, address.replace(/0$/, '1')] }],
          nodeOf: (address) => Number.parseInt(address.slice(5, 7), 16) % 8,
          numaNodes: Array.from({ length: 8 }, (_, id) => ({
            ...{ id, cores: [[id]], hostCpus: `${id}`, hugepages: [] },
          })),
        });
        const xml = renderDomain(describeDomain(vm, host));
        expect(xml).not.toContain('QVFCc2VjcmV0');
        expect(xml).not.toContain('correct-horse');
        const facts = readDomain(xml);
        const { id: vmId, revision, generation, devices } = vm;
        const volumes = vm.disks.map(({ id, sizeBytes }) => ({ id, sizeBytes }));
        expect(facts.metadata).toEqual({ vmId, revision, generation, devices, volumes });
        expect(facts.name).toBe(`gantry-${vmId}`);
        const slots = vm.disks.map((each, slot) => ({ ...each, slot }));
        expect(facts.disks.filter(({ id }) => id !== null)).toEqual(
          slots
            .filter(({ kind }) => kind === 'DISK_KIND_PERSISTENT_SSD')
            .map((each) => ({
              id: each.id,
              slot: each.slot,
              target: targetOfSlot(each.slot),
              path: each.rbd ? `${each.rbd.pool}/${each.rbd.image}` : `/${folder}/${each.id}.qcow2`,
              secretUuid: each.rbd ? secretUuidOf(each.rbd.user) : null,
              passphraseUuid: each.rbd?.passphrase ? passphraseUuidOf(each.rbd.user) : null,
              serial: each.serialNumber,
              readOnly: each.readOnly,
              tune: each.tune,
            })),
        );
        expect(facts.filesystems).toEqual(
          slots
            .filter(({ kind }) => kind === 'DISK_KIND_SHARED_VOLUME')
            .map(({ id, slot, readOnly }) => ({ id, slot, path: `/${folder}/${id}`, readOnly })),
        );
        expect(facts.interfaces.map(({ mac }) => mac)).toEqual(vm.interfaces.map(({ mac }) => mac));
        expect(facts.hostdevs.filter((address) => address.endsWith('0'))).toEqual(
          devices.map(({ address }) => address),
        );
      }),
      { numRuns: 40 },
    );
  });
});

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
