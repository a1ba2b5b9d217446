import { oid, sequence, TAG, utf8String, write } from './der.ts';

const COMMON_NAME = oid('2.5.4.3');

/** A distinguished name that has only a common name. */
export function distinguishedName(commonName: string): Buffer {
  return sequence(write(TAG.set, sequence(COMMON_NAME, utf8String(commonName))));
}
