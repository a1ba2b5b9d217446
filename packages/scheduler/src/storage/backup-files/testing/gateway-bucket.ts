import { type Bucket, openBucket } from '../bucket/bucket.ts';
import type { BucketSettings } from '../bucket/bucket-settings.ts';
import { openSender } from '../bucket/send-signed.ts';

type Gateway = { endpoint: string; keyId: string; secret: string };

const stopping = new AbortController().signal;

/** Creates a bucket. The objects of tests have a prefix, as in a bucket that others use too. */
export async function makeGatewayBucket(gateway: Gateway, name: string): Promise<BucketSettings> {
  const { endpoint, keyId, secret } = gateway;
  const settings = {
    ...{ endpoint, keyId, secret, bucket: name, prefix: 'eu/gantry/' },
    ...{ region: 'us-east-1', authorities: undefined },
  };
  const reply = await openSender({ settings, stopping })({ method: 'PUT' });
  reply.resume();
  return settings;
}

/** The operations of a bucket, for what a test looks at or breaks. */
export const openGatewayBucket = (settings: BucketSettings): Bucket =>
  openBucket({ settings, stopping });
