import { createPrivateKey, X509Certificate } from 'node:crypto';
import { makeCertificateRequest } from '@gantry/pki/certificate-request';
import type { EnrollReply__Output } from '@gantry/proto/generated/gantry/v1/EnrollReply';
import type { EnrollRequest } from '@gantry/proto/generated/gantry/v1/EnrollRequest';
import { loadFleet } from '@gantry/proto/load';
import { type ChannelCredentials, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { EnrolmentError } from './enrolment-error.ts';
import { channelCredentials, type Identity } from './identity.ts';

/** A scheduler replies within milliseconds unless its database is busy. */
const DEADLINE_MS = 20_000;

const Fleet = loadFleet();

type Joining = {
  address: string;
  token: string;
  caPem: string;
  hostname: string;
  /** The host that this one was before. Empty: none. */
  hostId?: string;
};

/**
 * Returns the identity of a new member, or of a host that comes back. The token is sent only to a scheduler of this authority.
 */
export async function requestIdentity({
  address,
  token,
  caPem,
  hostname,
  hostId = '',
}: Joining): Promise<Identity> {
  const identity = await requestCertificate({
    ...{ address, request: { token, hostname, hostId } },
    credentials: credentials.createSsl(Buffer.from(caPem)),
  });
  if (hostId === '' || identity.hostId === hostId) return identity;
  throw new EnrolmentError('bad_reply', `the scheduler enrolled another host, ${identity.hostId}`);
}

type Renewing = { address: string; identity: Identity; newKey?: boolean };

/** Returns the identity of the same host with a new certificate. */
export async function requestRenewal({
  address,
  identity,
  newKey = true,
}: Renewing): Promise<Identity> {
  const renewed = await requestCertificate({
    ...{ address, request: {} },
    credentials: channelCredentials(identity),
    ...(newKey ? {} : { keyPem: identity.keyPem }),
  });
  if (renewed.hostId === identity.hostId) return renewed;
  throw new EnrolmentError('bad_reply', `the scheduler renewed another host, ${renewed.hostId}`);
}

type Requesting = {
  address: string;
  credentials: ChannelCredentials;
  request: EnrollRequest;
  keyPem?: string;
};

async function requestCertificate(options: Requesting): Promise<Identity> {
  const { keyPem } = options;
  const made = makeCertificateRequest(keyPem === undefined ? {} : { privateKeyPem: keyPem });
  const reply = await callEnroll(options, made.csrPem);
  const identity = { ...reply, keyPem: made.privateKeyPem };
  if (!isUsable(identity)) {
    throw new EnrolmentError('bad_reply', 'the scheduler sent a certificate for another key');
  }
  return identity;
}

function isUsable({ certificatePem, keyPem, caPem, hostId }: Identity): boolean {
  if (hostId === '' || caPem === '') return false;
  return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem));
}

async function callEnroll(
  { address, credentials: channel, request }: Requesting,
  csrPem: string,
): Promise<EnrollReply__Output> {
  const client = new Fleet(address, channel);
  try {
    return await new Promise<EnrollReply__Output>((resolve, reject) => {
      client.enroll(
        { ...request, csrPem },
        { deadline: Date.now() + DEADLINE_MS },
        (error, reply) => {
          if (reply) resolve(reply);
          else reject(describeFailure(address, error, request.token !== undefined));
        },
      );
    });
  } finally {
    client.close();
  }
}

/** Codes with which a scheduler replies before it has used the token. */
const REFUSALS = new Set<status>([
  status.INVALID_ARGUMENT,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.UNIMPLEMENTED,
]);

function describeFailure(
  address: string,
  error: ServiceError | null,
  withToken: boolean,
): EnrolmentError {
  const why = error?.details ?? 'no reply';
  if (error && REFUSALS.has(error.code)) {
    return new EnrolmentError('refused', `${address} refused: ${why}`, { cause: error });
  }
  if (!withToken) {
    return new EnrolmentError('unreachable', `${address} did not renew: ${why}`, { cause: error });
  }
  return new EnrolmentError(
    'lost_reply',
    `${address} did not reply (${why}): try again. If the join token is then refused, this attempt used it: remove the host it created and ask for a new token`,
    { cause: error },
  );
}
