import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSettingsReader } from '@gantry/daemon/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBucketSettings } from './bucket-settings.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-settings-'));
  await writeFile(path.join(directory, 'none.pem'), 'no certificate');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const DIRECTORY = '/var/lib/gantry-spool';
const NAME = 'GANTRY_BACKUP_BUCKET';
const complete: Record<string, string> = {
  [NAME]: 'https://s3.example.com/backups',
  [`${NAME}_KEY_ID`]: 'AKID',
  [`${NAME}_SECRET`]: 'secret',
};
const read = (env: Record<string, string>, spool: string | undefined = DIRECTORY) =>
  readBucketSettings(createSettingsReader({ ...env }), spool);

describe('the bucket for backups', () => {
  it('is none unless its address is set', () => {
    expect(read({})).toBeUndefined();
    expect(readBucketSettings(createSettingsReader({}), undefined)).toBeUndefined();
  });

  it.each([
    ['https://s3.example.com/backups', 'https://s3.example.com', 'backups', ''],
    ['https://s3.example.com:8443/backups/', 'https://s3.example.com:8443', 'backups', ''],
    ['http://10.0.0.9:7480/b-1/eu/gantry', 'http://10.0.0.9:7480', 'b-1', 'eu/gantry/'],
  ])('%s has an endpoint, a name and a prefix', (url, endpoint, bucket, prefix) => {
    expect(read({ ...complete, [NAME]: url })).toEqual({
      ...{ endpoint, bucket, prefix, region: 'us-east-1', keyId: 'AKID', secret: 'secret' },
      authorities: undefined,
    });
  });

  it.each([
    ['backups', 'a URL such as'],
    ['ftp://s3.example.com/backups', 'a URL such as'],
    ['https://s3.example.com', 'the name of the bucket'],
    ['https://s3.example.com/', 'the name of the bucket'],
    ['https://s3.example.com/a//b', 'letters, digits'],
    ['https://s3.example.com/a/b%20c', 'letters, digits'],
    ['https://AKID:secret@s3.example.com/a', 'not contain a user'],
    ['https://s3.example.com/a?x=1', 'query or a fragment'],
  ])('is refused by its name if it is "%s"', (url, problem) => {
    const reading = () => read({ ...complete, [NAME]: url });
    expect(reading).toThrow(new RegExp(`^${NAME} m(ust|ay) .*${problem}`));
    expect(reading).not.toThrow(/AKID:secret/);
  });

  it.each(['KEY_ID', 'SECRET'])('is refused without %s', (part) => {
    const { [`${NAME}_${part}`]: _, ...rest } = complete;
    expect(() => read(rest)).toThrow(new RegExp(`^${NAME}_${part} .*must be set`));
  });

  it('is refused without a directory for files on their way to it', () => {
    expect(() => readBucketSettings(createSettingsReader({ ...complete }), undefined)).toThrow(
      /^GANTRY_BACKUP_DIRECTORY must be set/,
    );
  });

  it.each(['REGION', 'KEY_ID', 'SECRET', 'CA_FILE'])('has no %s without its address', (part) => {
    expect(() => read({ [`${NAME}_${part}`]: 'x' })).toThrow(`${NAME}_${part} is set, but ${NAME}`);
  });

  it('is refused with a file of authorities that is of no use', () => {
    const caFile = `${NAME}_CA_FILE`;
    for (const file of ['none.pem', 'absent.pem'])
      expect(() => read({ ...complete, [caFile]: path.join(directory, file) })).toThrow(
        new RegExp(`^${caFile} has no certificate .*${file}`),
      );
    const plain = { ...complete, [NAME]: 'http://s3.example.com/b', [caFile]: '/ca.pem' };
    expect(() => read(plain)).toThrow(`${caFile} is set, but ${NAME} is not an https URL`);
  });
});
