import type { StorageCluster } from '@gantry/ceph/storage-cluster';

/** What a scheduler that was killed leaves of its work. It is no StorageError, so nothing handles it. */
export class Killed extends Error {}

/** A cluster whose client is killed before or after one of its calls. `calls` counts them. */
export function killedAt(
  cluster: StorageCluster,
  { call, when }: { call: number; when: 'before' | 'after' },
): { cluster: StorageCluster; calls(): number } {
  let calls = 0;
  const proxy = new Proxy(cluster, {
    get(target, name) {
      // Otherwise an awaited proxy would be taken for a promise.
      if (name === 'then') return undefined;
      const method = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
      return async (...values: unknown[]) => {
        calls += 1;
        const isLast = calls === call;
        if (isLast && when === 'before') throw new Killed(`before call ${call}, ${String(name)}`);
        const result = await method(...values);
        if (isLast) throw new Killed(`after call ${call}, ${String(name)}`);
        return result;
      };
    },
  });
  return { cluster: proxy, calls: () => calls };
}
