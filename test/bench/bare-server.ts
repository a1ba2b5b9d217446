import { openOperation } from '@gantry/api/operations/open';
import { CreateVm } from '@gantry/api/vms/schema';
import { connect } from '@gantry/db/connect';
import { insertVm } from '@gantry/db/queries/vms/new-vms';
import { listVms, readVm } from '@gantry/db/queries/vms/vms';
import { newId } from '@gantry/model/ids';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/**
 * Two baselines for the api. Both have no authentication, rights, limits, log, metrics and views. The equal
 * routes run the same statements. The minimal routes read and write one row each of the tables without
 * which there is no VM: the least that any program with this schema can do.
 */
const sql = connect({ url: process.env['DATABASE_URL'] ?? '', name: 'bench-bare' });
const projectId = process.env['BENCH_PROJECT'] ?? '';
const app = new Hono();

app.get('/vms/:id', async (c) => c.json(await readVm(sql, { projectId, vmId: c.req.param('id') })));

app.get('/vms', async (c) => {
  const none = {
    ids: null,
    names: null,
    types: null,
    locations: null,
    states: null,
    tags: [],
    after: null,
  };
  return c.json(await listVms(sql, { ...none, projectId, limit: Number(c.req.query('limit')) }));
});

app.get('/minimal/vms/:id', async (c) => {
  const [vm] = await sql`select id, name, type, location, desired_state, created_at from vms
    where id = ${c.req.param('id')} and project_id = ${projectId}`;
  return c.json(vm);
});

app.post('/minimal/vms', async (c) => {
  const { name, type, location, image, ssh_public_key } = CreateVm.parse(await c.req.json());
  const [id, operationId] = [newId(), newId()];
  await sql`with vm as (insert into vms (id, project_id, name, type, location, image_id, ssh_public_key)
      select ${id}, ${projectId}, ${name}, ${type}, ${location}, id, ${ssh_public_key ?? ''} from images where name = ${image})
    insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
    values (${operationId}, ${projectId}, 'vm', ${id}, 'CREATE', 'IN_PROGRESS', '{}', now(), now() + interval '10 minutes')`;
  return c.json({ operation: { operation_id: operationId, state: 'IN_PROGRESS' } });
});

app.post('/vms', async (c) => {
  const body = CreateVm.parse(await c.req.json());
  const now = new Date();
  const [id, diskId] = [newId(), newId()];
  const request = {
    projectId,
    resourceType: 'vm',
    resourceId: id,
    name: 'CREATE',
    request: body,
    now,
    deadlineMs: 600_000,
  } as const;
  const operation = openOperation(request);
  await insertVm(sql, {
    vm: {
      ...{ id, projectId, request: body, at: now },
      osDisk: { id: diskId, size: '128GiB', sizeGib: 128, serialNumber: diskId.slice(-20) },
      networkInterface: { id: newId(), macAddress: newId().slice(-17) },
    },
    operation,
    record: {
      ...{
        auditId: newId(),
        at: now,
        organizationId: null,
        projectId,
        actorType: 'access_key',
        actorId: projectId,
      },
      ...{
        actor: 'bench',
        action: 'vms.create',
        resourceType: 'vms',
        resourceId: id,
        sourceIp: '',
        requestId: id,
      },
      status: 200,
      firstReply: { key: id, requestHash: id, reply: JSON.stringify(operation), sealed: false },
    },
  });
  return c.json({ operation });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.send?.({ ready: { port } }),
);
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
