import { afterEach, expect, it } from 'vitest';
import { checkAppArmor, checkClock, checkLockdown, checkRoot, checkSwap } from './check-system.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

it('only root can be a host', async () => {
  expect(await checkRoot(await make())).toMatchObject([{ severity: 'ok' }]);
  expect(await checkRoot(await make({ userId: 1_000 }))).toMatchObject([
    { severity: 'fail', found: 'not root (1000)' },
  ]);
});

it.each([
  ['[none] integrity confidentiality', [{ severity: 'ok' }]],
  ['none [integrity] confidentiality', [{ severity: 'warn', found: /^integrity/ }]],
  [undefined, []],
])('a kernel with the lockdown %j is a finding', async (text, findings) => {
  const sys = text === undefined ? {} : { 'kernel/security/lockdown': text };
  const expected = findings.map((finding) =>
    'found' in finding ? { ...finding, found: expect.stringMatching(finding.found) } : finding,
  );
  const found = await checkLockdown(await make({ sys }));
  expect(found).toHaveLength(expected.length);
  expect(found).toMatchObject(expected);
});

it('AppArmor is a note if it is on', async () => {
  const sys = { 'module/apparmor/parameters/enabled': 'Y' };
  expect(await checkAppArmor(await make({ sys }))).toMatchObject([{ severity: 'ok' }]);
  expect(await checkAppArmor(await make())).toEqual([]);
});

it('swap is a warning that names it', async () => {
  const header = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority';
  expect(await checkSwap(await make({ root: { 'proc/swaps': header } }))).toMatchObject([
    { severity: 'ok' },
  ]);
  const swaps = `${header}\n/dev/sda2 partition 1 0 -2\n/swapfile file 1 0 -3`;
  expect(await checkSwap(await make({ root: { 'proc/swaps': swaps } }))).toMatchObject([
    { severity: 'warn', found: expect.stringContaining('/dev/sda2, /swapfile') },
  ]);
});

it('a clock that is not synchronised is a warning; an unknown state is no finding', async () => {
  const replying = (reply: string) => make({ run: async () => `${reply}\n` });
  expect(await checkClock(await replying('yes'))).toMatchObject([{ severity: 'ok' }]);
  expect(await checkClock(await replying('no'))).toMatchObject([{ severity: 'warn' }]);
  const run = () => Promise.reject(new Error('not installed'));
  expect(await checkClock(await make({ run }))).toEqual([]);
});
