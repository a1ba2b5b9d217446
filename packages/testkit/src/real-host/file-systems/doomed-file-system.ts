/** Mounts a file system, prints where it is and waits to be killed. */
import { makeFileSystem } from './quota-file-system.ts';

const { mountPoint, device } = await makeFileSystem('doomed', { sizeMib: 16 });
process.stdout.write(`${JSON.stringify({ pid: process.pid, mountPoint, device })}\n`);
setInterval(() => {}, 60_000);
