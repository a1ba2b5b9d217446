import { type Client, connectClient } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Fleet,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { type Browser, chromium } from 'playwright-core';
import { type ConsolePage, openPage } from './console-page.ts';

/** A member of the first project who is not an operator. */
const TENANT = { email: 'ada@example.com', password: 'a tenant walks into a rack 42' };

/** The console as people use it: a browser, the bundled processes, PostgreSQL and simulated hosts. */
export type TestConsole = {
  processes: Processes;
  api: Api;
  client: Client;
  fleet: Fleet;
  projectId: string;
  tenant: Login;
  operator: Login;
  /** Opens a page in a browser profile of its own. */
  open(): Promise<ConsolePage>;
  /** Kills the API, and returns a function that starts it again at the same address. */
  killApi(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
};
export type Login = { email: string; password: string };

type Options = { hosts?: string };

export async function startConsole({ hosts = 'eu-north-a:a40-8=2' }: Options = {}) {
  const processes = await startProcesses();
  let browser: Browser | undefined;
  const stop = async () => {
    await browser?.close();
    await processes.stop();
  };
  try {
    let api = await processes.startApi();
    const schedulers = [await processes.startScheduler()];
    const fleet = await processes.startFleet({
      ...{ name: 'eu', hosts, schedulers, api },
      env: { GANTRY_FLEET_BOOT_MS: '300', GANTRY_FLEET_SHUTDOWN_MS: '200' },
    });
    const client = await connectClient(processes, api);
    await addTenant(client, processes.credentials.project_id);
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium' });
    const started = browser;
    const { project_id: projectId, operator_email, operator_password } = processes.credentials;
    return {
      ...{ processes, api, client, fleet, projectId, tenant: TENANT, stop },
      operator: { email: operator_email, password: operator_password },
      open: () => openPage(started, api.url),
      async killApi() {
        await api.kill();
        return async () => {
          api = await processes.startApi({ GANTRY_PORT: new URL(api.url).port });
        };
      },
    } satisfies TestConsole;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addTenant(client: Client, projectId: string): Promise<void> {
  await client.admin('POST', '/users', TENANT);
  const { body: projects } = await client.asOperator('GET', '/projects');
  const { organization_id } = projects.find(({ id }: { id: string }) => id === projectId);
  await client.asOperator('POST', `/organizations/${organization_id}/members`, {
    ...{ email: TENANT.email, role: 'member', project_id: projectId },
  });
}
