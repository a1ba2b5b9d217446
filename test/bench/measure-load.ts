import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { cpuOfTree } from './fleet/process.ts';
import { percentile } from './percentile.ts';
import { type Subject, VM } from './subject.ts';

export type Measured = {
  cpuMicros: number;
  /** Of PostgreSQL. */
  postgresMicros: number;
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
};

type Load = {
  subject: Subject;
  postgresPid: number;
  path: string;
  headers: Record<string, string>;
  /** Every request creates another VM. */
  create?: boolean;
  count: number;
  connections: number;
};

const TICKS_PER_SECOND = 100;
let serial = 0;

/** Sends a fixed number of requests and measures the CPU time of the server process and of PostgreSQL. */
export async function measureLoad({
  subject,
  postgresPid,
  path,
  headers,
  create,
  count,
  connections,
}: Load): Promise<Measured> {
  const [before, postgresBefore] = [cpuTicks(subject.pid), cpuOfTree(postgresPid)];
  const latencies: number[] = [];
  const started = performance.now();
  const requests = create
    ? [{ method: 'POST' as const, path, setupRequest: creation(headers) }]
    : undefined;
  const options = {
    url: subject.url + path,
    connections,
    amount: count,
    headers,
    ...(requests && { requests }),
  };
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(options, (error: unknown) => (error ? reject(error) : resolve()));
    instance.on('response', (_client, status, _bytes, ms) => {
      if (status !== 200) reject(new Error(`${path} replied ${status}`));
      latencies.push(ms);
    });
  });
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = (cpuTicks(subject.pid) - before) / TICKS_PER_SECOND;
  return {
    cpuMicros: (cpuSeconds * 1e6) / count,
    postgresMicros: (cpuOfTree(postgresPid) - postgresBefore) / count,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    perSecond: count / seconds,
  };
}

function creation(headers: Record<string, string>) {
  return (request: autocannon.Request): autocannon.Request => {
    serial += 1;
    const name = `bench-${process.pid}-${serial}`;
    const body = JSON.stringify({ ...VM, name });
    return {
      ...request,
      headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': name },
      body,
    };
  };
}

/** User and system time, from the 14th and 15th field of /proc/<pid>/stat. */
function cpuTicks(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const fields = afterName.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
