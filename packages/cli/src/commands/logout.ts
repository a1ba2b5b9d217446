import { ApiError } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { changeConfig } from '../config/config-file.ts';
import { connect } from '../config/connect.ts';
import { type ContextFlag, contextFlag } from './flags.ts';

export const logoutCommand = buildCommand<ContextFlag, [], CliContext>({
  docs: {
    brief: 'End all your logins at a server, and remove the stored one',
    fullDescription:
      'Ends every login and every token of the user, also those of other computers and of the console. ' +
      'The context stays, so that `gantry login` needs no arguments. An access key is only removed ' +
      'from this computer: delete it with `gantry access-key delete`.',
  },
  parameters: { flags: contextFlag },
  async func(flags) {
    const { client, context } = await connect(this, flags);
    if (context === undefined)
      throw new UsageError('the access key comes from the environment: there is no login to end');
    const { name, credential } = context;
    const isUser = 'email' in credential;
    if (isUser) await client.account.logOut().catch(unlessEnded);
    await changeConfig(this.process.env, async ({ current, contexts }, write) => {
      const { [name]: stored, ...others } = contexts;
      if (stored === undefined) return;
      if (!isUser) return write({ current: current === name ? '' : current, contexts: others });
      const loggedOut = { ...stored, credential: { email: credential.email } };
      await write({ current, contexts: { ...others, [name]: loggedOut } });
    });
    this.process.stdout.write(
      isUser
        ? `Logged out ${credential.email} at ${context.server}.\n`
        : `Removed the context ${name}. Its access key works until it is deleted.\n`,
    );
  },
});

/** A login that has ended at the server is what the command is for. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 401) throw error;
}
