import { once } from 'node:events';
import { credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { FleetHandlers } from './generated/gantry/v1/Fleet.ts';
import type { HostReport, HostReport__Output } from './generated/gantry/v1/HostReport.ts';
import type { HostSpec, HostSpec__Output } from './generated/gantry/v1/HostSpec.ts';
import { loadFleet } from './load.ts';

const Fleet = loadFleet();
const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that keeps the reports that it receives and replies to each with the same spec. */
async function serveFleet(spec: HostSpec, reports: HostReport__Output[]): Promise<number> {
  const handlers: FleetHandlers = {
    Enroll: (call, callback) => {
      const { hostname, csrPem } = call.request;
      callback(null, { hostId: hostname, certificatePem: csrPem, caPem: 'ca' });
    },
    Attach: (stream) => {
      stream.on('data', (report: HostReport__Output) => {
        reports.push(report);
        stream.write(spec);
      });
      stream.on('end', () => stream.end());
    },
    Console: (stream) => stream.end(),
    JoinConsole: (stream) => stream.end(),
    SendImage: (_, callback) => callback(null, {}),
    FetchImage: (stream) => stream.end(),
  };
  const server = new Server();
  server.addService(Fleet.service, handlers);
  cleanups.push(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

function dial(port: number) {
  const client = new Fleet(`127.0.0.1:${port}`, credentials.createInsecure());
  cleanups.push(() => client.close());
  return client;
}

/** Attaches, sends one report, returns what each side got. */
async function exchange(report: HostReport, spec: HostSpec) {
  const reports: HostReport__Output[] = [];
  const stream = dial(await serveFleet(spec, reports)).attach();
  stream.write(report);
  const [received] = (await once(stream, 'data')) as [HostSpec__Output];
  const ended = once(stream, 'end');
  stream.end();
  await ended;
  return { report: reports[0], spec: received };
}

// The largest value of the field's type, and one above what a double can hold.
const UINT64_MAX = '18446744073709551615';
const ABOVE_DOUBLE = '9007199254740993';

const SPEC = {
  era: '1794830400',
  number: UINT64_MAX,
  hash: 'ab12',
  needs: ['a'],
  authoritySha256s: ['cd34', 'ef56'],
  agentUpgrade: { id: 'u-1', version: '1.2.3-1', timeLimitSeconds: 600 },
  operations: [{ vmId: 'vm-1', operationId: 'o-1' }],
  freezes: [{ id: 's-1', vmId: 'vm-1', release: true, timeLimitSeconds: 20 }],
  diskLimits: [
    {
      ...{ kind: 'DISK_KIND_PERSISTENT_SSD', totalIops: '500', readIops: '0', writeIops: '0' },
      ...{ totalBytesPerSecond: '9007199254740993', readBytesPerSecond: '0' },
      ...{ writeBytesPerSecond: '0', iopsPerGib: '3', bytesPerSecondPerGib: '0' },
      ...{ burstPercent: 200, burstSeconds: 5 },
    },
  ],
  vms: [
    {
      id: 'vm-1',
      revision: ABOVE_DOUBLE,
      generation: '2',
      name: 'trainer',
      needs: ['b', 'c'],
      cpuCores: 12,
      memoryMib: 122_880,
      devices: [
        { kind: 'gpu', address: '0000:41:00.0' },
        { kind: 'drive', address: '0000:21:00.0' },
      ],
      disks: [
        {
          id: 'd-1',
          kind: 'DISK_KIND_PERSISTENT_SSD',
          sizeBytes: ABOVE_DOUBLE,
          readOnly: false,
          blockSize: 4_096,
          serialNumber: 'd1',
          name: 'os',
          exists: true,
          rbd: {
            monitors: ['10.0.0.1:3300'],
            pool: 'vol',
            image: 'd1',
            user: 'k1',
            key: 'AQ==',
            passphrase: 'c2VjcmV0',
          },
          cephfs: null,
        },
      ],
      interfaces: [
        {
          id: 'n-1',
          networkId: 'net-1',
          mac: '52:54:00:00:00:01',
          privateIpv4: '10.0.0.5/24',
          gatewayIpv4: '10.0.0.1',
          publicIpv4: '',
          bandwidthMbps: 25_000,
        },
      ],
      image: { name: 'debian-12', url: '', sha256: 'ab', id: 'image-1' },
      sshPublicKey: 'ssh-ed25519 AAAA',
      startupScript: '#!/bin/sh\necho ü\n',
      shutdownScript: '',
      numaShares: [{ node: 1, cpuCores: 12, memoryMib: 122_880 }],
      projectId: 'project-1',
      type: 'a40.1x',
      imageId: 'image-1',
      nestedVirtualization: true,
      sshKeys: ['ssh-ed25519 BBBB', 'ssh-ed25519 CCCC'],
      userData: '#cloud-config\n{}\n',
    },
  ],
  takeDowns: [
    {
      id: 'vm-0',
      revision: '7',
      graceful: true,
      devices: [{ kind: 'gpu', address: '0000:42:00.0' }],
      disks: ['d-0'],
    },
  ],
  disks: [
    {
      id: 'd-2',
      kind: 'DISK_KIND_SHARED_VOLUME',
      sizeBytes: '1',
      readOnly: true,
      blockSize: 0,
      serialNumber: 'd2',
      name: '',
      exists: false,
      rbd: null,
      cephfs: {
        ...{ monitors: ['10.0.0.1:3300'], fileSystem: 'shared', pool: 'shared' },
        ...{ path: '/gantry/c-1/d-2/data', user: 'k2', key: 'AQ==' },
      },
    },
  ],
  deletedDisks: ['d-9'],
  snapshots: [{ id: 's-1', diskId: 'd-2', frozen: true }],
  deletedSnapshots: ['s-9'],
  diskCopies: [{ disk: null, snapshotId: 's-2' }],
  diskRestores: [{ id: 'o-2', diskId: 'd-2', snapshotId: 's-3', sizeBytes: ABOVE_DOUBLE }],
  imageExports: [{ imageId: 'image-2', snapshotId: 's-4' }],
  firewallRules: [
    {
      id: 'r-1',
      networkId: 'net-1',
      direction: 'DIRECTION_INGRESS',
      action: 'ACTION_DENY',
      protocols: ['tcp'],
      sources: ['0.0.0.0/0'],
      sourcePorts: [],
      destinations: ['10.0.0.5/32'],
      destinationPorts: ['22', '3000-8080'],
    },
  ],
  consoles: [{ id: 'c-1', vmId: 'vm-1' }],
  networks: [
    {
      id: 'net-1',
      vni: 4_711,
      subnets: [{ cidr: '10.0.0.0/24', gatewayIpv4: '10.0.0.1' }],
      neighbours: [{ privateIpv4: '10.0.0.9', mac: '02:00:00:00:00:09', hostIpv4: '192.0.2.9' }],
      membersApart: true,
    },
  ],
  pieceHashes: ['p-1', 'p-2'],
  pieces: [{ hash: 'p-2', content: Buffer.from([1, 0, 255]) }],
  members: [
    {
      networkId: 'net-1',
      version: UINT64_MAX,
      baseVersion: ABOVE_DOUBLE,
      changed: [{ privateIpv4: '10.0.0.9', mac: '02:00:00:00:00:09', hostIpv4: '192.0.2.9' }],
      removed: ['10.0.0.8'],
    },
  ],
} satisfies HostSpec;

describe('the Fleet service', () => {
  it('carries a whole spec down the stream, 64-bit numbers to the digit', async () => {
    const { spec } = await exchange({}, SPEC);
    expect(spec).toEqual(SPEC);
  });

  it('carries a report up the stream', async () => {
    const { report } = await exchange(
      {
        acceptedNumber: ABOVE_DOUBLE,
        vms: [
          {
            id: 'vm-1',
            revision: 3,
            state: 'VM_OBSERVED_STATE_FAILED',
            failure: {
              code: 'gpu_busy',
              message: 'held by another VM',
              sinceMs: 1_700_000_000_000,
            },
          },
        ],
        receipts: [{ vmId: 'vm-0', kind: 'gpu', pciAddress: '0000:42:00.0' }],
        inventory: { devices: [{ kind: 'gpu', address: '0000:41:00.0', numaNode: 0 }] },
      },
      SPEC,
    );
    expect(report).toMatchObject({
      acceptedNumber: ABOVE_DOUBLE,
      vms: [
        {
          revision: '3',
          state: 'VM_OBSERVED_STATE_FAILED',
          failure: { code: 'gpu_busy', message: 'held by another VM', sinceMs: '1700000000000' },
        },
      ],
      receipts: [{ kind: 'gpu', pciAddress: '0000:42:00.0', failure: null }],
    });
  });

  it('tells NUMA node zero from no NUMA node', async () => {
    const inventory = { devices: [{ address: 'a', numaNode: 0 }, { address: 'b' }] };
    const { report } = await exchange({ inventory }, SPEC);
    expect(report?.inventory?.devices.map(({ numaNode }) => numaNode)).toEqual([0, undefined]);
  });

  it('tells a report without an inventory from an empty one', async () => {
    expect((await exchange({}, SPEC)).report?.inventory).toBeNull();
    expect((await exchange({ inventory: {} }, SPEC)).report?.inventory).not.toBeNull();
  });

  it('replies to Enroll', async () => {
    const client = dial(await serveFleet(SPEC, []));
    const reply = await new Promise((resolve, reject) => {
      client.enroll({ token: 't', csrPem: 'csr', hostname: 'gpu-1' }, (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(reply).toEqual({ hostId: 'gpu-1', certificatePem: 'csr', caPem: 'ca' });
  });
});
