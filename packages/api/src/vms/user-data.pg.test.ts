import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());

const create = (user_data: unknown) =>
  api.call('POST', `/projects/${tenant.projectId}/vms`, {
    ...{ bearer: tenant.accessKey, body: vmBody({ user_data }) },
  });

describe('user_data of a new VM', () => {
  it.each([
    ['cloud-config', '#cloud-config\nruncmd: [[echo, "ü"]]\r\n'],
    ['a list of parts', '#cloud-config-archive\n- {type: text/plain, content: x}\n'],
    ['a template', '## template: jinja\n#cloud-config\n{}\n'],
    ['a script', '#!/bin/sh\ntrue\n'],
    ['an include', '#include\nhttps://example.com/data\n'],
    ['a MIME message', 'Content-Type: multipart/mixed; boundary="x"\nMIME-Version: 1.0\n\n--x--\n'],
    ['64 KiB', `#!${'x'.repeat(64 * 1024 - 2)}`],
  ])('is stored unchanged if it is %s', async (_, user_data) => {
    const { status, body } = await create(user_data);
    expect(status).toBe(200);
    const { id, request } = body.operation.metadata;
    expect(request.user_data).toBe(user_data);
    expect(await api.sql`select user_data from vms where id = ${id}`).toEqual([{ user_data }]);
  });

  it.each([
    ['nothing', ''],
    ['something that cloud-init would ignore', 'packages: [jq]\n'],
    ['a number', 7],
    ['null', null],
    ['longer than 64 KiB', `#!${'x'.repeat(64 * 1024 - 1)}`],
    ['longer than 64 KiB in UTF-8', `#!${'ü'.repeat(33 * 1024)}`],
    ['with a NUL', '#!/bin/sh\n\0'],
  ])('is refused with the name of the field if it is %s', async (_, user_data) => {
    const count = async () => (await api.sql`select from vms`).length;
    const before = await count();
    const reply = await create(user_data);
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, 'user_data']);
    expect(await count()).toBe(before);
  });
});
