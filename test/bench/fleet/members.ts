import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { insertPublicAddresses } from '@gantry/db/queries/networks/public-addresses';
import { newId } from '@gantry/model/ids';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { ensureAuthorities } from '@gantry/scheduler/fleet/authority';
import type { HostsInput } from './hosts.ts';

const BATCH = 1_000;
const DAY_MS = 86_400_000;

type Members = {
  sql: Sql;
  secrets: Secrets;
  location: string;
  count: number;
  /** Files, one for each process that is to run hosts. */
  directory: string;
  processes: number;
};

/**
 * Makes hosts members of the fleet as Enroll does: a row, a key and a certificate of the fleet's
 * authority.
 */
export async function makeMembers(members: Members): Promise<string[]> {
  const { sql, secrets, location, count, directory, processes } = members;
  const { issuing: authority } = await ensureAuthorities({ sql, fleetSecrets: { secrets } });
  const inputs = Array.from(
    { length: processes },
    (): HostsInput => ({ caPem: authority.certificatePem, hosts: [] }),
  );
  for (let made = 0; made < count; made += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - made) }, (_, i) => {
      const hostId = newId();
      const key = makePrivateKey();
      const { pem, serial, notAfter } = issueHostCertificate(authority, {
        ...{ hostId, publicKey: publicKeyOf(key), ttlMs: DAY_MS },
      });
      const name = `bench-${made + i}`;
      const input = inputs[(made + i) % processes];
      input?.hosts.push({ hostId, name, keyPem: privateKeyPem(key), certificatePem: pem });
      return { hostId, name, serial, notAfter };
    });
    const ids = rows.map(({ hostId }) => hostId);
    await sql`insert into hosts (id, location, name)
      select id, ${location}, name from unnest(${ids}::uuid[],
        ${rows.map(({ name }) => name)}::text[]) as h (id, name)`;
    await sql`insert into host_certificates (serial, host_id, not_after)
      select serial, id, ${rows[0]?.notAfter ?? new Date()} from unnest(${ids}::uuid[],
        ${rows.map(({ serial }) => serial)}::text[]) as c (id, serial)`;
  }
  // The database does this by itself after some time.
  await sql`analyze hosts, host_certificates, host_revisions, public_addresses`;
  return inputs.map((input, i) => {
    const file = membersFile(directory, i);
    writeFileSync(file, JSON.stringify(input));
    return file;
  });
}

export function membersFile(directory: string, process: number): string {
  return path.join(directory, `hosts-${process}.json`);
}

/**
 * The default subnet of a project has room for four thousand VMs. This one is as large as its
 * network.
 */
export async function widenSubnet(sql: Sql, location: string): Promise<void> {
  await sql`update subnets s set cidr = n.cidr from networks n
    where n.id = s.network_id and s.location = ${location}`;
}

/** From the range set aside for benchmarks: https://www.rfc-editor.org/rfc/rfc2544 */
export async function addPublicAddresses(sql: Sql, location: string): Promise<void> {
  const addresses = Array.from({ length: 64 * 256 }, (_, i) => ({
    ...{ id: newId(), address: `198.18.${Math.floor(i / 256)}.${i % 256}` },
  }));
  await insertPublicAddresses(sql, { location, addresses });
}
