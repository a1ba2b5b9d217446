// Loaded into a measured process before its own code: reports how much memory it uses, after a full collection
// of garbage if that is wanted, and profiles itself on demand.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

let session;

process.on('message', async (message) => {
  if (message.bench === 'usage') {
    if (message.collect) for (let i = 0; i < 4; i += 1) await collect();
    process.send({
      usage: { cpuUs: cpuUs(), ...process.memoryUsage() },
    });
  }
  if (message.bench === 'profile') process.send({ profiled: await profile(message) });
});

function cpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function collect() {
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 200));
}

async function profile({ kind, file }) {
  if (!session) {
    session = new Session();
    session.connect();
    if (kind === 'cpu') {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
    } else await session.post('HeapProfiler.startSampling', { samplingInterval: 8192 });
    return true;
  }
  const { profile } = await session.post(
    kind === 'cpu' ? 'Profiler.stop' : 'HeapProfiler.stopSampling',
  );
  writeFileSync(file, JSON.stringify(profile));
  session.disconnect();
  session = undefined;
  return true;
}
