import { type Client, type Credential, createClient } from '@gantry/sdk';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { readConfig, type ServerContext } from './config-file.ts';
import { fileTokenStore } from './token-store.ts';

export type Connection = { client: Client; server: string };
export type ProjectConnection = Connection & { project_id: string };

type Chosen = { context: string | undefined; signal?: AbortSignal | undefined };

/**
 * Returns a client of the server that the command is for, in this order: the context of `--context`,
 * that of GANTRY_CONTEXT, GANTRY_URL with GANTRY_ACCESS_KEY, the current context.
 */
export async function connectToProject(
  cli: CliContext,
  { context, signal }: Chosen,
): Promise<ProjectConnection> {
  const { env } = cli.process;
  const name = context ?? env['GANTRY_CONTEXT'];
  if (!name && env['GANTRY_URL'] && env['GANTRY_ACCESS_KEY'])
    return await connectByEnvironment(env['GANTRY_URL'], env['GANTRY_ACCESS_KEY'], signal);
  const { name: found, server, project_id, credential } = await findContext(cli, name);
  if (project_id === '')
    throw new UsageError(
      `the context ${found} has no project. Choose one: gantry login --context ${found} --project NAME`,
    );
  const used: Credential =
    'tokens' in credential
      ? { tokens: fileTokenStore(env, found) }
      : { accessKey: credential.access_key };
  return { client: createClient({ baseUrl: server, credential: used }), server, project_id };
}

async function connectByEnvironment(
  server: string,
  accessKey: string,
  signal: AbortSignal | undefined,
): Promise<ProjectConnection> {
  const client = createClient({ baseUrl: server, credential: { accessKey } });
  return { client, server, project_id: (await client.root.get({}, { signal })).project_id };
}

/** Without a name it is the current context. */
export async function findContext(
  { process: { env } }: CliContext,
  name: string | undefined,
): Promise<ServerContext & { name: string }> {
  const { current, contexts } = await readConfig(env);
  const wanted = name || current;
  if (wanted === '') throw new UsageError('there is no context. Run: gantry login');
  const found = Object.hasOwn(contexts, wanted) ? contexts[wanted] : undefined;
  if (found !== undefined) return { ...found, name: wanted };
  const known = Object.keys(contexts).join(', ') || 'none';
  throw new UsageError(`there is no context ${wanted}. There are: ${known}`);
}
