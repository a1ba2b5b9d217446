import { createClient } from '@gantry/sdk';
import { watchedFetch } from './connection.ts';
import { tokens } from './session.ts';

/** The one client of the console. Waits are short, because a person looks at the page meanwhile. */
export const gantry = createClient({
  baseUrl: '',
  credential: { tokens },
  fetch: watchedFetch,
  retry: { maxMs: 2_000 },
});
