import { ApiError, type CallOptions } from '@gantry/sdk';
import { UsageError } from '../cli-errors.ts';

/** A tag as it is typed: `key=value`. */
export type Tag = { key: string; value: string };

/** A change of a tag as it is typed: `key=value` sets it, and `key-` removes it. */
type TagChange = { key: string; value: string | undefined };

function parseTag(text: string): Tag {
  const equals = text.indexOf('=');
  if (equals < 1) throw new Error('a tag is written as key=value');
  return { key: text.slice(0, equals), value: text.slice(equals + 1) };
}

/** Throws if one of them is not a change. */
export function parseTagChanges(typed: readonly string[]): TagChange[] {
  return typed.map((text) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key !== undefined) return { key, value };
    if (!/^[^=]+-$/.test(text))
      throw new UsageError(`${text}: write key=value to set a tag, or key- to remove it`);
    return { key: text.slice(0, -1), value: undefined };
  });
}

export function tagFlag(brief: string) {
  return {
    kind: 'parsed',
    parse: parseTag,
    variadic: true,
    optional: true,
    ...{ brief, placeholder: 'key=value' },
  } as const;
}

/** The last value of a key counts. */
export function tagObject(tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ key, value }) => [key, value]));
}

export function showTags(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

type Tags = Record<string, string>;
type TagStore<Reply> = {
  read(options: CallOptions): Promise<Tags>;
  /** Replaces all tags. */
  write(tags: Tags, options: CallOptions): Promise<Reply>;
};

/** A resource that changes for other reasons too, such as its state, is read again this often. */
const ATTEMPTS = 10;

/**
 * Changes some tags of a resource whose tags can only be replaced together. If the resource has changed
 * since it was read, the server refuses the write, and the change is made to the new tags: otherwise one of
 * two concurrent changes would be lost.
 */
export async function changeTags<Reply>(
  { read, write }: TagStore<Reply>,
  changes: readonly TagChange[],
): Promise<Reply> {
  for (let attempt = 1; ; attempt += 1) {
    let ifMatch: string | undefined;
    const tags = await read({
      onEtag: (etag) => {
        ifMatch = etag;
      },
    });
    try {
      return await write(changedTags(tags, changes), { ifMatch });
    } catch (error) {
      const hasChanged = error instanceof ApiError && error.status === 412;
      if (!hasChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

function changedTags(tags: Tags, changes: readonly TagChange[]): Tags {
  const changed = new Map(Object.entries(tags));
  for (const { key, value } of changes) {
    if (value === undefined) changed.delete(key);
    else changed.set(key, value);
  }
  return Object.fromEntries(changed);
}
