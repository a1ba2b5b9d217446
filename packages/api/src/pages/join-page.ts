import { sha256 } from '@gantry/daemon/secrets';
import { readServingAuthority } from '@gantry/db/queries/hosts/fleet-authorities';
import {
  type HeldToken,
  readHeldToken,
  updateFindings,
} from '@gantry/db/queries/hosts/join-tokens';
import { CloudError } from '@gantry/model/errors';
import type { Context, Hono } from 'hono';
import { sourceOf } from '../auth/source.ts';
import { type Deps, requireRightClock } from '../deps.ts';
import { readBody, sourceIpOf } from '../http/incoming.ts';
import { NOSNIFF } from '../http/nosniff.ts';
import { renderJoinScript, renderRefusal } from '../join/join-script.ts';
import { readFindings } from '../join/read-findings.ts';

const TOKEN = /^gantry_jt_[A-Za-z0-9_-]{16,100}$/;
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  ...NOSNIFF,
};

/**
 * Serves the script that makes a server a host, and what became of its token. The token is in the path, so these
 * requests are not in the request log, and the path is in no error.
 */
export function mountJoinPage(app: Hono, deps: Deps): void {
  app.get('/join/:token', (c) => reply(c, deps, () => renderScript(c, deps)));
  app.get('/join/:token/status', (c) => reply(c, deps, () => renderStatus(c, deps)));
  app.post('/join/:token/findings', (c) => reply(c, deps, () => storeFindings(c, deps)));
}

/** A problem becomes a script that prints it, because the client passes the reply to a shell. */
async function reply(c: Context, deps: Deps, render: () => Promise<string>): Promise<Response> {
  try {
    requireRightClock(deps);
    deps.sourceLimiter.take(sourceOf(sourceIpOf(c, deps.trustedProxies)));
    return c.body(await render(), 200, HEADERS);
  } catch (error) {
    if (!(error instanceof CloudError)) deps.log.error({ error }, 'join request failed');
    const isKnown = error instanceof CloudError;
    return c.body(renderRefusal(isKnown ? error.message : TRY_AGAIN), 200, HEADERS);
  }
}

const TRY_AGAIN = 'the control plane could not prepare the script: try again in a minute';

async function findToken(c: Context, { sql }: Deps): Promise<{ token: string; held: HeldToken }> {
  const token = c.req.param('token') ?? '';
  const held = TOKEN.test(token) ? await readHeldToken(sql, sha256(token)) : undefined;
  if (held) return { token, held };
  throw new CloudError(
    'bad_credential',
    'there is no such join token: copy the whole line, or create a new token with gantry join or in the console',
  );
}

async function renderScript(c: Context, deps: Deps): Promise<string> {
  const { token, held } = await findToken(c, deps);
  if (held.is_expired && !held.is_used) {
    throw new CloudError(
      'bad_credential',
      'this join token has expired: create a new one with gantry join or in the console',
    );
  }
  const authority = await readServingAuthority(deps.sql);
  if (!authority) {
    throw new CloudError(
      'unavailable',
      'no scheduler has started yet, so a host could not recognise it: start one, then paste the line again',
    );
  }
  return renderJoinScript({
    ...{ settings: deps.joining, publicUrl: deps.baseUrl(), token },
    caSha256: authority.fingerprint,
  });
}

const MAX_FINDINGS_BYTES = 64 * 1024;

/** Keeps what the server found out about itself, so that the operator who waits for it can read it. */
async function storeFindings(c: Context, deps: Deps): Promise<string> {
  const { token } = await findToken(c, deps);
  const body = await readBody(c, MAX_FINDINGS_BYTES);
  if (!body) throw new CloudError('bad_request', 'there are too many findings');
  await updateFindings(deps.sql, {
    hash: sha256(token),
    findings: readFindings(body.toString('utf8')),
  });
  return '';
}

/** Lines of the form name=value, because the script has no parser for JSON. */
async function renderStatus(c: Context, deps: Deps): Promise<string> {
  const { held } = await findToken(c, deps);
  const [state, message] = describe(held);
  const lines = {
    ...{ state, used: held.is_used ? 'yes' : 'no', host_id: held.host?.id ?? '' },
    ...{ rejoins_id: held.rejoins_id ?? '', message: message.replaceAll(/\s+/g, ' ') },
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function describe({ host, is_used }: HeldToken): [state: string, message: string] {
  if (!host) return ['waiting', is_used ? 'the host was removed' : 'the host has not enrolled yet'];
  const { name } = host;
  if (host.state === 'fenced') return ['failed', `an operator fenced ${name}`];
  if (!host.is_connected) return ['waiting', `${name} has not connected yet`];
  if (host.state !== 'ready' || !host.has_reported)
    return ['waiting', `${name} is connected and has not reported its hardware yet`];
  if (host.trouble !== '') return ['waiting', `${name} is connected, but ${host.trouble}`];
  return ['ready', `${name} is ready`];
}
