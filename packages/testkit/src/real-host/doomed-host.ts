/** Starts a host, prints its directory and waits to be killed. */
import { startLibvirtHost } from './host.ts';

const { namespace, directory, libvirtd } = await startLibvirtHost('doomed');
const daemon = libvirtd.pids.libvirtd;
process.stdout.write(`${JSON.stringify({ pid: process.pid, namespace, directory, daemon })}\n`);
setInterval(() => {}, 60_000);
