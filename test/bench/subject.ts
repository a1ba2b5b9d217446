import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { Sql } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';

export const VM = {
  type: 'a40.1x',
  location: 'eu-north-a',
  image: 'debian-12',
  ssh_public_key:
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx bench',
};

/** A server under load, as a separate process. */
export type Subject = { pid: number; url: string; stop(): Promise<void> };

export async function startProcess(args: string[], env: Record<string, string>): Promise<Subject> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = (await once(child, 'message')) as [{ ready: { port: number } }];
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${message.ready.port}`,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

type Wanted = { root: string; databaseUrl: string; sql: Sql; vms: number };

/** A project with an access key, very high limits and some VMs to read. */
export async function makeBenchProject({ root, databaseUrl, sql, vms }: Wanted) {
  const [secretKey, fleetKey] = [randomKey(), randomKey()];
  const operator = { email: 'bench@example.com', password: randomBytes(12).toString('hex') };
  const output = execFileSync(
    process.execPath,
    [path.join(root, 'packages/api/dist/bootstrap.mjs')],
    {
      env: { ...process.env, DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: secretKey },
      input: JSON.stringify({
        operator_email: operator.email,
        operator_password: operator.password,
        ...{ organization: 'bench', project: 'bench' },
      }),
      encoding: 'utf8',
    },
  );
  const { project_id: projectId, access_key: accessKey } = JSON.parse(output) as Record<
    string,
    string
  > as {
    project_id: string;
    access_key: string;
  };
  await sql`update quotas set max = 100000000`;
  await sql`update organization_quotas set max = 100000000`;
  const vmId = await insertVms(sql, projectId, vms);
  // The planner would assume that empty tables stay empty.
  if (vms > 0) await sql`analyze`;
  return { secretKey, fleetKey, projectId, accessKey, vmId, operator };
}

const randomKey = () => randomBytes(32).toString('base64url');

async function insertVms(sql: Sql, projectId: string, count: number): Promise<string> {
  let vmId = '';
  for (let i = 0; i < count; i += 1) {
    vmId = newId();
    const diskId = newId();
    await sql`insert into vms (id, project_id, name, type, location, image_id, ssh_public_key)
      select ${vmId}, ${projectId}, ${`vm-${i}`}, ${VM.type}, ${VM.location}, id, ${VM.ssh_public_key}
      from images where name = ${VM.image}`;
    await sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number)
      values (${diskId}, ${projectId}, 'os', ${`vm-${i}`}, 'persistent-ssd', '128GiB', 128, ${VM.location}, 0, ${diskId.slice(-20)})`;
    await sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
      values (${diskId}, ${vmId}, 'os', 'read-write', true)`;
    await sql`insert into network_interfaces (id, vm_id, name, network_id, subnet_id, mac_address)
      select ${newId()}, ${vmId}, 'eth0', network_id, id, ${newId().slice(-17)}
      from subnets where project_id = ${projectId} and location = ${VM.location}`;
  }
  return vmId;
}
