import { GIB } from '@gantry/daemon/units';
import { afterEach, expect, it } from 'vitest';
import { checkEnrolment, checkSchedulers, checkSpace } from './check-fleet.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

it.each([
  [900, 1_000, 'ok'],
  [90, 1_000, 'warn'],
  [9, 20, 'fail'],
])('%i of %i GiB free is %s', async (free, total, severity) => {
  const readSpace = async () => ({ freeBytes: free * GIB, totalBytes: total * GIB });
  expect(await checkSpace(await make({ readSpace }))).toMatchObject([
    { severity, found: `${free} of ${total} GiB free in /var/lib/gantry-data` },
  ]);
});

it.each([
  ['enrolled', async () => new Date('2027-01-01'), 'ok'],
  ['not enrolled yet', async () => null, 'warn'],
  ['enrolled too long ago', async () => new Date('2026-11-14'), 'fail'],
  ['enrolled in part', () => Promise.reject(new Error('without key.pem')), 'fail'],
])('a host that is %s gets a finding', async (_, readCertificateEnd, severity) => {
  expect(await checkEnrolment(await make({ readCertificateEnd }))).toMatchObject([{ severity }]);
});

it('every scheduler is tried', async () => {
  const schedulers = ['one:7443', 'two:7443'];
  const connect = async (address: string) => (address === 'one:7443' ? null : 'ECONNREFUSED');
  expect(await checkSchedulers(await make({ settings: { schedulers }, connect }))).toMatchObject([
    { severity: 'ok', found: 'one:7443 can be reached' },
    { severity: 'fail', found: 'two:7443: ECONNREFUSED' },
  ]);
  expect(await checkSchedulers(await make({ settings: { schedulers: [] } }))).toMatchObject([
    { severity: 'warn' },
  ]);
});
