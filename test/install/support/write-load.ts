import type { Client } from '@gantry/testkit/processes/client';
import { LOCATION } from './installed-cloud.ts';

/**
 * Creates disks one after the other until it is stopped. Returns the names of those that were accepted,
 * and how many requests failed, as they may while the api restarts.
 */
export function startWriting(client: Client) {
  const accepted: string[] = [];
  let failed = 0;
  let isStopped = false;
  const write = async () => {
    for (let number = 1; !isStopped; number += 1) {
      const name = `load-${number}`;
      try {
        const { status } = await client.call('POST', '/disks', {
          ...{ name, size: '1GiB', location: LOCATION },
        });
        if (status === 200) accepted.push(name);
        else failed += 1;
      } catch {
        failed += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const writing = write();
  return {
    accepted,
    async stop() {
      isStopped = true;
      await writing;
      return { accepted, failed };
    },
  };
}
