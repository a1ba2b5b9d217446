import { createHash } from 'node:crypto';
import sshpk from 'sshpk';

const PLAIN_TYPES = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
];
/** Keys on a security token. The parser does not know them, so their structure is checked here. */
const TOKEN_TYPES = ['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'];
const MIN_RSA_BITS = 2048;
const MAX_LENGTH = 16 * 1024;

/** Returns why the text is not an acceptable OpenSSH public key; undefined if it is. */
export function sshKeyProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return 'is too long for an SSH public key';
  const key = text.trim();
  if (key.includes('PRIVATE KEY'))
    return 'is a private key: send the public one, usually the .pub file';
  if (/[\r\n]/.test(key)) return 'must be one public key on one line';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (/[\u0000-\u001f\u007f]/.test(key.replaceAll('\t', ' '))) return 'contains control characters';
  const [type = '', blob = ''] = key.split(/[ \t]+/);
  if (type === 'ssh-dss') return 'is a DSA key: use ed25519, ecdsa or rsa';
  if (!PLAIN_TYPES.includes(type) && !TOKEN_TYPES.includes(type)) {
    return 'must be an OpenSSH public key of type ed25519, ecdsa, rsa or a sk- variant';
  }
  const bytes = Buffer.from(blob, 'base64');
  if (blob === '' || bytes.toString('base64').replace(/=+$/, '') !== blob.replace(/=+$/, '')) {
    return 'has key data that is not base64';
  }
  if (readString(bytes, 0)?.toString('latin1') !== type)
    return 'has key data of another type than it says';
  return TOKEN_TYPES.includes(type) ? tokenKeyProblem(type, bytes) : plainKeyProblem(key);
}

/** The fingerprint of an acceptable key, as `ssh-keygen -l` prints it. */
export function sshFingerprint(key: string): string {
  const [, blob = ''] = key.trim().split(/[ \t]+/);
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

function plainKeyProblem(key: string): string | undefined {
  try {
    const parsed = sshpk.parseKey(key, 'ssh');
    if (parsed.type === 'rsa' && parsed.size < MIN_RSA_BITS) {
      return `is an RSA key of ${parsed.size} bits: at least ${MIN_RSA_BITS} are needed`;
    }
    return undefined;
  } catch {
    return 'has damaged key data';
  }
}

/** type, [curve,] public key, application: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.u2f */
function tokenKeyProblem(type: string, bytes: Buffer): string | undefined {
  const expected = type.startsWith('sk-ecdsa') ? 4 : 3;
  let offset = 0;
  let fields = 0;
  while (offset < bytes.length) {
    const field = readString(bytes, offset);
    if (!field) return 'has damaged key data';
    offset += 4 + field.length;
    fields += 1;
  }
  return fields === expected ? undefined : 'has damaged key data';
}

function readString(bytes: Buffer, offset: number): Buffer | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const end = offset + 4 + bytes.readUInt32BE(offset);
  return end <= bytes.length ? bytes.subarray(offset + 4, end) : undefined;
}
