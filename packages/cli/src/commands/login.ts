import { ApiError, type Client, createClient, memoryTokenStore } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { changeConfig, readConfig, type ServerContext } from '../config/config-file.ts';
import { openPrompt, type Prompt } from '../terminal/prompt.ts';
import { type ContextFlag, contextFlag, optionalText } from './flags.ts';

type LoginFlags = ContextFlag & {
  server: string | undefined;
  email: string | undefined;
  accessKey: boolean;
  project: string | undefined;
};

export const loginCommand = buildCommand<LoginFlags, [], CliContext>({
  docs: {
    brief: 'Log in to a server and store the login as a context',
    fullDescription:
      'Asks for the password or the access key on a terminal, and reads it from the standard input ' +
      'otherwise: a secret is never an argument. The next line of the input is the code of the second ' +
      'factor, if the user has one.',
  },
  parameters: {
    flags: {
      ...contextFlag,
      context: { ...contextFlag.context, brief: 'The name to store the login under' },
      server: optionalText('The address of the server', 'url'),
      email: optionalText('Log in as this user', 'address'),
      accessKey: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Log in with an access key instead of a password',
      },
      project: optionalText('The project of the context, by name or id', 'project'),
    },
  },
  async func(flags) {
    const prompt = openPrompt(this);
    try {
      const { name, context } = await logIn(this, flags, prompt);
      await changeConfig(this.process.env, (config, write) =>
        write({ current: name, contexts: { ...config.contexts, [name]: context } }),
      );
      this.process.stdout.write(`Logged in to ${context.server}. The context is ${name}.\n`);
      if (context.project_id === '')
        this.process.stderr.write(
          'You belong to no project, so most commands have nothing to do.\n',
        );
    } finally {
      prompt.close();
    }
  },
});

type NamedContext = { name: string; context: ServerContext };

async function logIn(cli: CliContext, flags: LoginFlags, prompt: Prompt): Promise<NamedContext> {
  const { current, contexts } = await readConfig(cli.process.env);
  // Without a server, a login is repeated.
  const again = contexts[flags.context ?? (flags.server === undefined ? current : '')];
  const known = flags.server ?? cli.process.env['GANTRY_URL'] ?? again?.server;
  if (known === undefined && !prompt.isInteractive)
    throw new UsageError('which server? Give its address with --server');
  const server = parseServer(known ?? (await prompt.ask('Server')));
  const repeated = again?.server === server ? (flags.context ?? current) : undefined;
  const name = flags.context ?? repeated ?? new URL(server).host;
  const earlier = again !== undefined && 'email' in again.credential ? again.credential.email : '';
  const email = flags.accessKey ? '' : (flags.email ?? (await askEmail(prompt, earlier)));
  const context =
    email === ''
      ? await logInWithKey(server, prompt)
      : await logInWithPassword({ server, email, project: flags.project }, prompt);
  return { name, context };
}

async function askEmail(prompt: Prompt, earlier: string): Promise<string> {
  if (earlier !== '') return earlier;
  if (prompt.isInteractive) return (await prompt.ask('E-mail address (empty: access key)')).trim();
  throw new UsageError('who are you? Give --email ADDRESS or --access-key');
}

function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`--server: ${text} is not an address such as https://gantry.example.com`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** A wrong address should fail at once. */
const retry = { attempts: 2 };

async function logInWithKey(server: string, prompt: Prompt): Promise<ServerContext> {
  const access_key = (await prompt.askSecret('Access key')).trim();
  const client = createClient({ baseUrl: server, credential: { accessKey: access_key }, retry });
  const { project_id } = await client.root.get();
  return { server, project_id, credential: { access_key } };
}

type PasswordLogin = { server: string; email: string; project: string | undefined };

async function logInWithPassword(
  { server, email, project }: PasswordLogin,
  prompt: Prompt,
): Promise<ServerContext> {
  const password = await prompt.askSecret('Password');
  const store = memoryTokenStore();
  const client = createClient({ baseUrl: server, credential: { tokens: store }, retry });
  try {
    await client.logIn({ email, password });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'totp_required') throw error;
    const totp = (await prompt.askSecret('Code of the second factor')).trim();
    await client.logIn({ email, password, totp });
  }
  const project_id = await chooseProject(client, { project, prompt });
  const tokens = await store.read();
  if (tokens === undefined) throw new Error('BUG: the login left no tokens');
  return { server, project_id, credential: { email, tokens } };
}

async function chooseProject(
  client: Client,
  { project, prompt }: { project: string | undefined; prompt: Prompt },
): Promise<string> {
  const projects = await client.projects.list();
  const names = projects.map(({ name }) => name).join(', ');
  const [only] = projects;
  if (project === undefined && projects.length <= 1) return only?.id ?? '';
  if (project === undefined && !prompt.isInteractive)
    throw new UsageError(`which project? Give --project with one of: ${names}`);
  const wanted = project ?? (await prompt.ask(`Project (${names})`)).trim();
  const found = projects.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length === 1 && found[0] !== undefined) return found[0].id;
  if (found.length > 1) throw new UsageError(`--project: several projects are named ${wanted}`);
  throw new UsageError(`--project: there is no ${wanted}. There are: ${names}`);
}
