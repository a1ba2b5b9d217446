import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createRateLimiter } from '@gantry/api/base/rate-limit';
import { readApiSettings } from '@gantry/api/settings';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { closeDueDays } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import type { Reply } from '@gantry/testkit/api/test-api';
import { finishVm } from '@gantry/testkit/make/finished';
import { diskBody, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  attachDisk,
  defaultNetworkOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  makeDisk,
  makeVm,
  operationOf,
  startWorld,
  type World,
} from './support.ts';

let world: World;
let networkId: string;

beforeAll(async () => {
  world = await startWorld();
  networkId = await defaultNetworkOf(world);
});
afterAll(() => world.api.stop());

const createVm = (changes: Fields) => world.post(`${world.P}/vms`, vmBody(changes));
const createDisk = (changes: Fields) => world.post(`${world.P}/disks`, diskBody(changes));
const createRule = (changes: Fields) =>
  world.post(`${world.P}/vpc/firewall-rules`, ruleBody(networkId, changes));
const accepted = (reply: Reply) => operationOf(reply).metadata.id;

describe('docs/contract/errors.md#limits: values and lifetimes', () => {
  it('the block size of a disk is 512 or 4096', async () => {
    for (const block_size of [512, 4096]) accepted(await createDisk({ block_size }));
    for (const block_size of [256, 1024, 8192]) {
      expectFieldRefused(await createDisk({ block_size }), 'block_size');
    }
  });
  it('the size of a disk is a number with GiB or TiB', async () => {
    for (const size of ['10GiB', '1TiB']) accepted(await createDisk({ size }));
    for (const size of ['10', '10G', '10MiB', 'tenGiB']) {
      expectFieldRefused(await createDisk({ size }), 'size');
    }
  });
  it('usage of a day appears after midnight UTC', async () => {
    const { sql } = world.api;
    await openInterval(sql, {
      ...{ organizationId: world.tenant.organizationId, projectId: world.tenant.projectId },
      ...{ resourceId: newId(), region: 'eu-north', startedAt: new Date('2026-01-01T12:00:00Z') },
      metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
    });
    const dates = async () => {
      const { body } = await world.get(
        `${world.O}/usage?start_date=2026-01-01&end_date=2026-01-05`,
      );
      return body.items.map(({ date }: Fields) => date);
    };
    await closeDueDays(sql, new Date('2026-01-01T23:59:59Z'));
    expect(await dates()).toEqual([]);
    await closeDueDays(sql, new Date('2026-01-02T00:15:00Z'));
    expect(await dates()).toEqual(['2026-01-01']);
    await closeDueDays(sql, new Date('2026-01-02T23:00:00Z'));
    expect(await dates()).toEqual(['2026-01-01']);
    await closeDueDays(sql, new Date('2026-01-03T00:15:00Z'));
    expect(await dates()).toEqual(['2026-01-01', '2026-01-02']);
  });
  it('every type of the catalogue can be requested, and no other', async () => {
    const { items } = (await world.get(`${world.P}/specs`)).body;
    expect(items).toHaveLength(17);
    for (const { product_name } of items) accepted(await createVm({ type: product_name }));
    expectRefusal(await createVm({ type: 'h100.1x' }), 422, 'unknown_type');
  });
  it('an access token lasts 3600 seconds', async () => {
    const claims = JSON.parse(
      Buffer.from(world.tenant.owner.token.split('.')[1] ?? '', 'base64url').toString(),
    );
    expect(claims.exp - claims.iat).toBe(3600);
  });
});

describe('docs/contract/errors.md#limits: names, keys, sizes and ports', () => {
  it('a name has 1 to 63 of a-z, 0-9 and -, and is unique per project and kind', async () => {
    const longest = 'a'.repeat(63);
    for (const create of [createVm, createDisk, createRule]) {
      for (const name of ['a', '0-9', longest]) {
        accepted(await create({ name }));
        expectRefusal(await create({ name }), 409, 'name_taken');
      }
      for (const name of ['', `${longest}a`, 'A', 'a_b', 'a.b', 'ä', 'a b', 'a\n']) {
        expectFieldRefused(await create({ name }), 'name');
      }
    }
    // Another project may have the same names.
    const project = { name: newName(), organization_id: world.tenant.organizationId };
    const { id } = (await world.owner.post('/projects', project)).body;
    accepted(await world.owner.post(`/projects/${id}/vms`, vmBody({ name: longest })));
  });

  it('a script has at most 64 KiB and begins with #!', async () => {
    const script = (bytes: number, filler = 'x') => {
      const head = '#!/bin/sh\n';
      return head + filler.repeat((bytes - head.length) / Buffer.byteLength(filler));
    };
    for (const field of ['startup_script', 'shutdown_script']) {
      accepted(await createVm({ [field]: script(64 * 1024) }));
      for (const wrong of [
        ...[script(64 * 1024 + 1), script(64 * 1024 + 2, 'é')],
        ...['echo hello', ' #!/bin/sh', ''],
      ]) {
        expectFieldRefused(await createVm({ [field]: wrong }), field);
      }
    }
  });

  it('an SSH key is one OpenSSH public key, and a refusal says what is wrong with it', async () => {
    const good = Object.values(sshKeys());
    for (const ssh_public_key of [...good, `${good[0]} ada@example`]) {
      accepted(await createVm({ ssh_public_key }));
    }
    const reasons = new Set<string>();
    for (const ssh_public_key of [
      rsaKey(1024),
      `${good[0]}\n${good[1]}`,
      `ssh-dss ${sshBlob('ssh-dss', Buffer.alloc(128))}`,
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      'ssh-ed25519 not-base64!',
      good[0]?.replace('ssh-ed25519', 'ssh-rsa'),
      '',
    ]) {
      const reply = await createVm({ ssh_public_key });
      expectFieldRefused(reply, 'ssh_public_key');
      reasons.add(reply.body.details[0].reason);
    }
    expect(reasons.size).toBeGreaterThanOrEqual(6);
  });

  it('disks respect the limits of size, count and sharing', async () => {
    for (const size of ['1GiB', '10TiB', '10240GiB']) accepted(await createDisk({ size }));
    for (const size of ['0GiB', '11TiB', '10241GiB']) {
      expectFieldRefused(await createDisk({ size }), 'size');
    }

    const vms = [await makeVm(world), await makeVm(world), await makeVm(world)];
    const [first = '', second = '', third = ''] = vms;
    const attach = (vmId: string, diskIds: string[], mode: string) =>
      world.post(`${world.P}/vms/${vmId}/attach-disks`, {
        attach_disks: diskIds.map((disk_id) => ({ disk_id, mode, attachment_type: 'data' })),
      });
    const disksOf = async (vmId: string): Promise<Fields[]> =>
      (await world.get(`${world.P}/vms/${vmId}`)).body.disks;
    expect(await disksOf(first)).toMatchObject([{ attachment_type: 'os', size: '128GiB' }]);

    const own = await makeDisk(world);
    await attachDisk(world, { vmId: first, diskId: own });
    for (const mode of ['read-write', 'read-only']) {
      expectRefusal(await attach(second, [own], mode), 409, 'disk_attached');
    }
    const readByMany = await makeDisk(world);
    const writtenByMany = await makeDisk(world, { type: 'shared-volume' });
    for (const vmId of vms) {
      await attachDisk(world, { vmId, diskId: readByMany, mode: 'read-only' });
      await attachDisk(world, { vmId, diskId: writtenByMany, mode: 'read-write' });
    }
    expect((await disksOf(third)).map(({ mode }) => mode)).toEqual([
      ...['read-write', 'read-only', 'read-write'],
    ]);

    const full = await makeVm(world);
    const many = [];
    for (let count = 0; count < 16; count += 1) many.push(await makeDisk(world, { size: '1GiB' }));
    expectRefusal(await attach(full, many, 'read-write'), 409, 'conflict');
    accepted(await attach(full, many.slice(0, 15), 'read-write'));
    await finishVm(world.api.sql, full, 'running');
    expect(await disksOf(full)).toHaveLength(16);
    expectRefusal(await attach(full, many.slice(15), 'read-write'), 409, 'conflict');
  });

  it('a port is a number, a range or "*"', async () => {
    for (const field of ['source_ports', 'destination_ports']) {
      const ports = ['22', '3000-8080', '*', '1', '65535'];
      const id = accepted(await createRule({ [field]: ports }));
      const { body } = await world.get(`${world.P}/vpc/firewall-rules/${id}`);
      expect(body[field]).toEqual(ports);
      for (const port of ['65536', '0', 'ssh', '22-', '8080-3000', '22,23', '-1', '', ' 22']) {
        expectFieldRefused(await createRule({ [field]: [port] }), field);
      }
    }
  });

  it('a protocol is tcp, udp or icmp', async () => {
    const open = { source_ports: [], destination_ports: [] };
    for (const protocol of ['tcp', 'udp', 'icmp']) {
      accepted(await createRule({ ...open, protocols: [protocol] }));
    }
    accepted(await createRule({ ...open, protocols: ['tcp', 'udp', 'icmp'] }));
    for (const protocol of ['gre', 'TCP', '*', '']) {
      expectFieldRefused(await createRule({ ...open, protocols: [protocol] }), 'protocols');
    }
  });

  it('a rule endpoint is a block, an address or a resource of the project, or anywhere', async () => {
    const vmId = await makeVm(world);
    const [subnet] = (await world.get(`${world.P}/vpc/subnets`)).body.items;
    for (const field of ['sources', 'destinations']) {
      const sent = [
        ...[{ cidr: '192.0.2.7' }, { cidr: '192.0.2.0/24' }, { resource_id: vmId }],
        ...[{ resource_id: subnet.id }, { resource_id: networkId }, {}],
      ];
      const id = accepted(await createRule({ [field]: sent }));
      const { body } = await world.get(`${world.P}/vpc/firewall-rules/${id}`);
      expect(body[field]).toEqual(
        sent.map((endpoint, index) => ({
          ...{ resource_id: '', cidr: '', ...endpoint },
          ...(index === 0 ? { cidr: '192.0.2.7/32' } : {}),
        })),
      );
      for (const wrong of [
        ...[{ cidr: '10.0.0.0/8', resource_id: vmId }, { resource_id: newId() }],
        ...[{ cidr: '10.0.0.1/8' }, { cidr: '300.0.0.1' }, { cidr: '10.0.0.0/33' }],
      ]) {
        expectFieldRefused(await createRule({ [field]: [wrong] }), field);
      }
    }
  });

  it('a credential has 50 requests per second with a burst of 200 by default', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://nobody@127.0.0.1:1/none');
    vi.stubEnv('GANTRY_SECRET_KEY', 'x'.repeat(32));
    const { rateLimit } = readApiSettings();
    vi.unstubAllEnvs();
    expect(rateLimit).toEqual({ perSecond: 50, burst: 200 });

    let nowMs = 0;
    const rateLimiter = createRateLimiter({ ...rateLimit, now: () => nowMs });
    const limited = await startWorld({ rateLimiter });
    try {
      const statuses = async (count: number) => {
        const seen: Record<number, number> = {};
        for (let sent = 0; sent < count; sent += 1) {
          const { status } = await limited.get('');
          seen[status] = (seen[status] ?? 0) + 1;
        }
        return seen;
      };
      expect(await statuses(201)).toEqual({ 200: 200, 429: 1 });
      expect((await limited.owner.get('')).status).toBe(200);
      nowMs += 1_000;
      expect(await statuses(51)).toEqual({ 200: 50, 429: 1 });
    } finally {
      await limited.api.stop();
    }
  });
});

function sshBlob(...fields: (string | Buffer)[]): string {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  ).toString('base64');
}

/** A number whose first bit is set needs a zero byte in front: https://www.rfc-editor.org/rfc/rfc4251#section-5 */
const mpint = (bytes: Buffer) =>
  (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.alloc(1), bytes]);
const part = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e') =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');

function rsaKey(bits: number): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const [e, n] = [mpint(part(publicKey, 'e')), mpint(part(publicKey, 'n'))];
  return `ssh-rsa ${sshBlob('ssh-rsa', e, n)}`;
}

/** One key of each kind that is accepted. */
function sshKeys(): Record<string, string> {
  const ed25519 = part(generateKeyPairSync('ed25519').publicKey, 'x');
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const point = Buffer.concat([Buffer.from([4]), part(ec, 'x'), part(ec, 'y')]);
  const [ecdsa, sk] = ['ecdsa-sha2-nistp256', 'sk-ssh-ed25519@openssh.com'];
  const skEcdsa = 'sk-ecdsa-sha2-nistp256@openssh.com';
  return {
    ed25519: `ssh-ed25519 ${sshBlob('ssh-ed25519', ed25519)}`,
    ecdsa: `${ecdsa} ${sshBlob(ecdsa, 'nistp256', point)}`,
    rsa: rsaKey(2048),
    sk: `${sk} ${sshBlob(sk, ed25519, 'ssh:')}`,
    skEcdsa: `${skEcdsa} ${sshBlob(skEcdsa, 'nistp256', point, 'ssh:')}`,
  };
}
