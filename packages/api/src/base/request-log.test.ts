import { createLog } from '@gantry/daemon/log';
import { expect, it } from 'vitest';
import { createRequestLog } from './request-log.ts';

const line = {
  requestId: '0c1c9f0e-0000-4000-8000-000000000001',
  method: 'GET',
  route: 'vms.get',
  path: '/v0.1/"quoted"\\and\u0001',
  status: 200,
  ms: 1.23456,
  actorId: '0c1c9f0e-0000-4000-8000-000000000002',
  operationId: '0c1c9f0e-0000-4000-8000-000000000003',
  at: new Date('2026-01-31T00:00:00Z'),
};

function written(level: string): string {
  const lines: string[] = [];
  const destination = { write: (text: string) => void lines.push(text) };
  const log = createLog({ process: 'api', level, destination });
  createRequestLog(log)(line);
  log.info({ request_id: 'x' }, 'another');
  return lines.join('');
}

it('a request line is JSON like the other lines, whatever the path contains', () => {
  const [request = '', other = ''] = written('info').split('\n');
  expect(JSON.parse(request)).toEqual({
    level: 'info',
    process: 'api',
    time: '2026-01-31T00:00:00.000Z',
    msg: 'request',
    request_id: line.requestId,
    method: 'GET',
    route: 'vms.get',
    path: line.path,
    status: 200,
    ms: 1.23,
    actor_id: line.actorId,
    operation_id: line.operationId,
  });
  const members = Object.keys(JSON.parse(other));
  expect(Object.keys(JSON.parse(request))).toEqual(expect.arrayContaining(members));
});

it('no request line is written at the level warn', () => expect(written('warn')).toBe(''));
