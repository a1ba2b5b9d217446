import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import { dyingAfter } from './testing/dying-after.ts';
import { type Lab, openLab } from './testing/lab.ts';
import { snapshot } from './testing/snapshot.ts';

const web = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const firewall = { rules: [makeRule('ssh')], interfaces: [web] };

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab?.close());

it('interfaces whose creation is interrupted at any step are completed by ensuring them again', async () => {
  const network = lab.network();
  const before = await snapshot(lab);
  await network.applyFirewall(firewall);
  await network.ensureInterfaces('vm-1', [web]);
  const whole = await snapshot(lab);
  for (let steps = 0; ; steps += 1) {
    await network.removeInterfaces('vm-1');
    const { run, isDead } = dyingAfter(steps);
    await lab
      .network({ run })
      .ensureInterfaces('vm-1', [web])
      .catch(() => undefined);
    if (!isDead()) break;
    await network.ensureInterfaces('vm-1', [web]);
    expect(await snapshot(lab), `after ${steps} steps`).toEqual(whole);
  }
  await network.removeInterfaces('vm-1');
  expect(await snapshot(lab)).toEqual(before);
});

it('interfaces whose creation is interrupted at any step are removed, except a link without an owner', async () => {
  const network = lab.network();
  const before = await snapshot(lab);
  await network.applyFirewall(firewall);
  for (let steps = 0; ; steps += 1) {
    const { run, isDead } = dyingAfter(steps);
    await lab
      .network({ run })
      .ensureInterfaces('vm-1', [web])
      .catch(() => undefined);
    await network.removeInterfaces('vm-1');
    if (!isDead()) break;
    const links = findOurs(JSON.parse(await lab.ip('-json link show')));
    for (const link of links) expect(link).toMatchObject({ operstate: 'DOWN', master: undefined });
    await network.ensureInterfaces('vm-1', [web]);
    await network.removeInterfaces('vm-1');
    expect(await snapshot(lab), `after ${steps} steps`).toEqual(before);
  }
});

function findOurs(links: { ifname: string; operstate: string; master?: string }[]) {
  return links
    .filter(({ ifname }) => /^(gbr|gtap)/.test(ifname))
    .map(({ ifname, operstate, master }) => ({ ifname, operstate, master }));
}

it('a removal that is interrupted at any step is completed by removing again', async () => {
  const network = lab.network();
  const before = await snapshot(lab);
  await network.applyFirewall(firewall);
  for (let steps = 0; ; steps += 1) {
    await network.ensureInterfaces('vm-1', [web]);
    const { run, isDead } = dyingAfter(steps);
    await lab
      .network({ run })
      .removeInterfaces('vm-1')
      .catch(() => undefined);
    if (!isDead()) break;
    await network.removeInterfaces('vm-1');
    expect(await snapshot(lab), `after ${steps} steps`).toEqual(before);
  }
});

it('rules that are interrupted at any step are the old or the new ones, and applying again completes them', async () => {
  const network = lab.network();
  const next = { ...firewall, rules: [makeRule('web', { destinationPorts: ['80'] })] };
  for (let steps = 0; ; steps += 1) {
    await network.applyFirewall(firewall);
    const { run, isDead } = dyingAfter(steps);
    await lab
      .network({ run })
      .applyFirewall(next)
      .catch(() => undefined);
    if (!isDead()) break;
    const listed = await lab.nft('list', 'table', 'inet', 'gantry');
    expect(listed).toMatch(steps === 0 ? /\b22\b/ : /\b80\b/);
    expect(await network.isInForce(next)).toBe(false);
    await network.applyFirewall(next);
    expect(await network.isInForce(next)).toBe(true);
  }
});
