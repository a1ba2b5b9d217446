import { buildApp } from '@gantry/api/app';
import { createLog, type Log } from '@gantry/daemon/log';
import { type AuditLine, insertAuditLines } from '@gantry/db/queries/operations/records';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import type { Plan } from './requests.ts';
import { fillPlan, type World } from './world.ts';

/** The api under test, and its side effects: log lines and crashes. */
export type Subject = {
  api: TestApi;
  send(plan: Plan, world: World): Promise<Exchange>;
};

export type Exchange = {
  /** The request as it was sent, with real ids. */
  sent: Plan;
  pathname: string;
  status: number;
  headers: Headers;
  text: string;
  /** Problems that the client cannot see: logged errors, and lines that the audit log refused. */
  troubles: string[];
};

export async function startSubject(): Promise<Subject> {
  const troubles: string[] = [];
  const waiting: AuditLine[] = [];
  const api = await startTestApi({
    log: troubleLog(troubles),
    // Lines of the audit log are written in batches, so one bad line makes the whole batch fail.
    refusals: { add: (line) => void waiting.push(line), stop: async () => {} },
  });
  const app = buildApp(api.deps);
  return {
    api,
    async send(plan, world) {
      const sent = fillPlan(plan, world);
      const request = toRequest(sent, world);
      const response = await app.fetch(request);
      const text = await response.text();
      await insertAuditLines(api.sql, waiting.splice(0)).catch((error: unknown) =>
        troubles.push(`the audit log does not take the refusal: ${error}`),
      );
      const { status, headers } = response;
      const { pathname } = new URL(request.url);
      return { sent, pathname, status, headers, text, troubles: troubles.splice(0) };
    },
  };
}

function toRequest(plan: Plan, world: World): Request {
  const headers = new Headers();
  if (plan.bearer) headers.set('authorization', `Bearer ${world.bearers[plan.bearer]}`);
  if (plan.body?.contentType !== undefined) headers.set('content-type', plan.body.contentType);
  for (const [name, value] of Object.entries(plan.headers)) headers.set(name, value);
  const request = new Request(`http://api.test${plan.path}${plan.query}`, {
    method: plan.method,
    headers,
    ...(plan.body && { body: Buffer.from(plan.body.text, plan.body.encoding) }),
  });
  // fetch adds a content type if there is none.
  if (plan.body?.contentType === undefined) request.headers.delete('content-type');
  return request;
}

function troubleLog(troubles: string[]): Log {
  const write = (line: string) => {
    const { error } = JSON.parse(line) as { error?: { message: string; stack?: string } };
    troubles.push(`logged an error: ${error?.stack ?? error?.message ?? line}`);
  };
  return createLog({ process: 'api', level: 'error', destination: { write } });
}
