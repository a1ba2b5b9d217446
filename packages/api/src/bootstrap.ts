import { text } from 'node:stream/consumers';
import { redactText } from '@gantry/daemon/redact';
import { sha256 } from '@gantry/daemon/secrets';
import { createSettingsReader } from '@gantry/daemon/settings';
import { connect, type Queryable } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { insertAccessKey } from '@gantry/db/queries/tenants/access-keys';
import {
  findProject,
  insertOrganization,
  insertOwner,
  insertPaymentMethod,
  insertProject,
} from '@gantry/db/queries/tenants/tenants';
import { ensureOperator } from '@gantry/db/queries/tenants/users';
import { newId } from '@gantry/model/ids';
import { z } from '@hono/zod-openapi';
import { newKey } from './auth/keys.ts';
import { hashPassword } from './auth/passwords.ts';
import { refuseWeakPassword } from './auth/weak-passwords.ts';
import { parseInput } from './http/parse-input.ts';

/**
 * Creates the first operator, organization, project and access key of an installation. It reads
 * their names as JSON from standard input, and writes the project's id and the access key as JSON
 * to standard output. A second run sets the operator's password, keeps what exists, and creates
 * another key.
 */
const Bootstrap = z.strictObject({
  operator_email: z.email().toLowerCase(),
  operator_password: z.string().min(12),
  organization: z.string().min(1),
  project: z.string().min(1),
});

async function bootstrap(sql: Queryable, names: z.output<typeof Bootstrap>) {
  const operatorId = await ensureOperator(sql, {
    id: newId(),
    email: names.operator_email,
    passwordHash: await hashPassword(names.operator_password),
  });
  const existing = await findProject(sql, {
    organization: names.organization,
    project: names.project,
  });
  const project = existing ?? (await makeProject(sql, names, operatorId));
  const accessKey = newKey('access_key');
  const id = newId();
  await insertAccessKey(sql, {
    id,
    projectId: project.id,
    name: `bootstrap-${id.slice(-12)}`,
    role: 'member',
    hash: sha256(accessKey),
    createdAt: new Date(),
    expiresAt: null,
    createdBy: operatorId,
    parentId: null,
  });
  return { project_id: project.id, access_key: accessKey };
}

async function makeProject(sql: Queryable, names: z.output<typeof Bootstrap>, ownerId: string) {
  const organizationId = newId();
  await insertOrganization(sql, {
    id: organizationId,
    name: names.organization,
    payment_customer_id: `local_${organizationId}`,
  });
  await insertPaymentMethod(sql, {
    organizationId,
    provider: 'local',
    details: { holder: names.organization },
  });
  await insertOwner(sql, { id: newId(), organizationId, userId: ownerId });
  const project = { id: newId(), name: names.project, organization_id: organizationId };
  await insertProject(sql, project);
  return project;
}

async function main(): Promise<void> {
  const databaseUrl = createSettingsReader().secret('DATABASE_URL');
  const names = parseInput(Bootstrap, JSON.parse(await text(process.stdin)), 'body');
  refuseWeakPassword(names.operator_password, names.operator_email, 'operator_password');
  await migrate(databaseUrl);
  const sql = connect({ url: databaseUrl, name: 'gantry-bootstrap', maxConnections: 1 });
  try {
    process.stdout.write(`${JSON.stringify(await sql.begin((tx) => bootstrap(tx, names)))}\n`);
  } finally {
    await sql.end();
  }
}

try {
  await main();
} catch (error) {
  // People read this message, so it has no stack trace.
  process.stderr.write(`${redactText(error instanceof Error ? error.message : String(error))}\n`);
  process.exitCode = 1;
}
