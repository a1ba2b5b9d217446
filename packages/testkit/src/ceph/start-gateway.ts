import path from 'node:path';
import { waitUntil } from '@gantry/local/base/wait-until';
import { freePort } from '../real-host/free-port.ts';
import { makeCephDaemon } from './ceph-daemon.ts';
import type { TestCeph } from './start-ceph.ts';

/**
 * Ceph's server for buckets (S3) in front of a cluster of tests. It has one user and no bucket. It ends with this process,
 * and what it stores is in the cluster.
 */
export type TestGateway = {
  endpoint: string;
  keyId: string;
  secret: string;
  stop(): Promise<void>;
};

const READY_LIMIT_MS = 120_000;
const KEY_ID = 'GANTRYTESTKEY';
const SECRET = 'the-secret-of-the-test-gateway';

/** Without another gateway to agree with, and without the threads that work hours later. */
const OPTIONS = [
  ...['--rgw-enable-apis', 's3', '--rgw-run-sync-thread', 'false', '--rgw-enable-lc-threads'],
  ...['false', '--rgw-enable-gc-threads', 'false', '--rgw-thread-pool-size', '32'],
];

export async function startGateway(ceph: TestCeph): Promise<TestGateway> {
  // Creates the pools too, which two processes would do at the same time otherwise.
  await ceph.run(
    ...([
      'radosgw-admin',
      'user',
      'create',
      '--uid',
      'gantry',
      '--display-name',
      'Gantry',
    ] as const),
    ...['--access-key', KEY_ID, '--secret-key', SECRET],
  );
  const port = await freePort();
  const frontend = ['--rgw-frontends', `beast endpoint=127.0.0.1:${port}`];
  const log = path.join(ceph.directory, 'log/gateway.log');
  const daemon = makeCephDaemon({
    command: ['radosgw', '-f', '--name', 'client.admin', ...frontend, ...OPTIONS],
    environment: ceph.environment,
    log,
  });
  daemon.start();
  const endpoint = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(endpoint).then(
      () => true,
      () => undefined,
    );
  if (!(await waitUntil({ limitMs: READY_LIMIT_MS, condition: isReady }))) {
    await daemon.kill();
    throw new Error(`the gateway did not reply within ${READY_LIMIT_MS} ms; see ${log}`);
  }
  return { endpoint, keyId: KEY_ID, secret: SECRET, stop: daemon.kill };
}
