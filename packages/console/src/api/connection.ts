import { observable } from './observable.ts';

/** Whether the last request reached the API. The page says so, and goes on trying. */
export const connection = observable<'online' | 'lost'>('online');

/** These come from a proxy that lost its API, or from an API that lost its database. */
const UNAVAILABLE = [502, 503, 504];

export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    connection.set(UNAVAILABLE.includes(response.status) ? 'lost' : 'online');
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) connection.set('lost');
    throw error;
  }
};
