/** Starts a cluster, prints where it is and waits to be killed. */
import { startCeph } from './start-ceph.ts';

const { directory, mon, osds } = await startCeph();
const daemons = [mon, ...osds].map(({ pid }) => pid);
process.stdout.write(`${JSON.stringify({ pid: process.pid, directory, daemons })}\n`);
setInterval(() => {}, 60_000);
