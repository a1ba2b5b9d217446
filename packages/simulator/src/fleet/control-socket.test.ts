import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gpu, makeVm } from '@gantry/agent/testing/make-spec';
import { createLog } from '@gantry/daemon/log';
import { loadFleet } from '@gantry/proto/load';
import { MemoryLedger } from '@gantry/testkit/hosts/memory-ledger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimulatedHostDriver } from '../driver/simulated-host-driver.ts';
import { GPUS, makeInventory } from '../testing/make-inventory.ts';
import { runAlone } from '../testing/run-alone.ts';
import { type ControlSocket, startControlSocket } from './control-socket.ts';
import { SimulatedHost } from './simulated-host.ts';

const log = createLog({ process: 'test', level: 'silent' });
let directory: string;
let control: ControlSocket;
let driver: SimulatedHostDriver;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-control-'));
  driver = new SimulatedHostDriver({ inventory: makeInventory() });
  const host = new SimulatedHost({
    ...{ fleet: loadFleet(), log, driver, ledger: new MemoryLedger() },
    identity: { hostId: 'id-1', keyPem: '', certificatePem: '', caPem: '' },
    address: () => 'localhost:1',
  });
  // The state that a killed fleet leaves behind.
  await writeFile(join(directory, 'control.sock'), '');
  control = await startControlSocket({ directory, hosts: new Map([['one', host]]), log });
});
afterEach(async () => {
  await control.stop();
  await rm(directory, { recursive: true, force: true });
});

function send(method: string, path: string, body?: string) {
  return new Promise<{ status: number | undefined; said: string }>((resolve, reject) => {
    const sent = request({ socketPath: control.path, method, path }, (response) => {
      text(response).then((said) => resolve({ status: response.statusCode, said }), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('the control socket', () => {
  it('is accessible only to its owner', async () => {
    expect((await stat(control.path)).mode & 0o777).toBe(0o600);
  });

  it('shows everything that is on the hosts', async () => {
    await runAlone(driver, makeVm('vm-1', { devices: [gpu(GPUS[0])] }));
    const { items } = JSON.parse((await send('GET', '/sights')).said);
    expect(items).toMatchObject([
      {
        hostId: 'id-1',
        domains: [{ vmId: 'vm-1', state: 'running', starts: 1, resets: 0 }],
        devices: [{ vmId: 'vm-1', address: GPUS[0] }],
        seeds: ['vm-1'],
        disks: [{ id: 'vm-1-os' }],
      },
    ]);
    expect(items[0].interfaces.map(({ vmId }: { vmId: string }) => vmId)).toContain('vm-1');
    expect(items[0].rules).toEqual(driver.network.firewall?.rules);
  });

  it('lists hosts, and can crash a VM', async () => {
    await runAlone(driver, makeVm('vm-1'));
    const shown = { name: 'one', host_id: 'id-1', agent: 'killed', hanging: [] };
    expect(JSON.parse((await send('GET', '/hosts')).said)).toEqual({
      items: [{ ...shown, vms: [{ id: 'vm-1', state: 'running' }] }],
    });
    const { status, said } = await send('POST', '/hosts/one/crash', '{"vm_id":"vm-1"}');
    expect(status).toBe(200);
    expect(JSON.parse(said)).toEqual({ ...shown, vms: [{ id: 'vm-1', state: 'crashed' }] });
  });

  it.each([
    ['GET', '/', 404, 'GET /hosts'],
    ['POST', '/hosts/two/reboot', 404, 'GET /hosts'],
    ['GET', '/hosts/one/reboot', 404, 'GET /hosts'],
    ['POST', '/hosts/one/dance', 400, 'there is no'],
    ['POST', '/hosts/one/crash', 400, 'JSON', '{"vm_id'],
    ['POST', '/hosts/one/crash', 400, 'has no domain', '{"vm_id":"vm-9"}'],
  ])('replies to %s %s with %i', async (method, path, status, word, body?: string) => {
    const reply = await send(method, path, body);
    expect(reply.status).toBe(status);
    expect(reply.said).toContain(word);
  });
});
