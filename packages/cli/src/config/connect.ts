import { type Client, type Credential, createClient } from '@gantry/sdk';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { readConfig, type ServerContext } from './config-file.ts';
import { fileTokenStore } from './token-store.ts';

export type Connection = { client: Client; server: string };
export type ProjectConnection = Connection & { project_id: string };
/** The context is undefined if the environment has the server. */
type Found = Connection & { context: (ServerContext & { name: string }) | undefined };

type Chosen = { context: string | undefined; signal?: AbortSignal | undefined };

/**
 * Returns a client of the server that the command is for, in this order: the context of `--context`,
 * that of GANTRY_CONTEXT, GANTRY_URL with GANTRY_ACCESS_KEY, the current context.
 */
export async function connect(
  cli: CliContext,
  { context: given }: { context: string | undefined },
): Promise<Found> {
  const { env } = cli.process;
  const name = given ?? env['GANTRY_CONTEXT'];
  if (!name && env['GANTRY_URL'] && env['GANTRY_ACCESS_KEY']) {
    const credential = { accessKey: env['GANTRY_ACCESS_KEY'] };
    const server = env['GANTRY_URL'];
    return { client: createClient({ baseUrl: server, credential }), server, context: undefined };
  }
  const context = await findContext(cli, name);
  const { server, credential } = context;
  const used: Credential =
    'email' in credential
      ? { tokens: fileTokenStore(env, context.name) }
      : { accessKey: credential.access_key };
  return { client: createClient({ baseUrl: server, credential: used }), server, context };
}

/** The same for a command that needs a project: that of the context, or that of the access key. */
export async function connectToProject(
  cli: CliContext,
  { context: given, signal }: Chosen,
): Promise<ProjectConnection> {
  const { client, server, context } = await connect(cli, { context: given });
  if (context === undefined)
    return { client, server, project_id: (await client.root.get({}, { signal })).project_id };
  if (context.project_id === '')
    throw new UsageError(
      `the context ${context.name} has no project. Choose one: gantry project use NAME --context ${context.name}`,
    );
  return { client, server, project_id: context.project_id };
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
