import { NotLoggedInError, type TokenStore, type Tokens } from '@gantry/sdk';
import { changeConfig, type Environment, readConfig } from './config-file.ts';

/**
 * The tokens of a context, in the configuration file. A refresh token works once, so all processes
 * with the same file refresh one at a time.
 */
export function fileTokenStore(env: Environment, name: string): TokenStore {
  let save: ((tokens: Tokens) => Promise<void>) | undefined;
  return {
    async read() {
      const credential = (await readConfig(env)).contexts[name]?.credential;
      return credential !== undefined && 'email' in credential ? credential.tokens : undefined;
    },
    /** The SDK writes only inside `exclusively`. */
    async write(tokens) {
      if (save === undefined) throw new Error('tokens are written outside of the lock');
      await save(tokens);
    },
    exclusively: (work) =>
      changeConfig(env, async (config, write) => {
        const context = config.contexts[name];
        save = async (tokens) => {
          if (context === undefined || !('email' in context.credential))
            throw new NotLoggedInError();
          const credential = { ...context.credential, tokens };
          await write({
            ...config,
            contexts: { ...config.contexts, [name]: { ...context, credential } },
          });
        };
        try {
          return await work();
        } finally {
          save = undefined;
        }
      }),
  };
}
