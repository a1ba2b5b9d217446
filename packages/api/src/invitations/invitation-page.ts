import { randomUUID } from 'node:crypto';
import { CloudError } from '@gantry/model/errors';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { NewPassword } from '../account/schema.ts';
import { type Html, layout, PAGE_HEADERS } from '../billing/billing-html.ts';
import type { Deps } from '../deps.ts';
import { toErrorReply } from '../http/http-errors.ts';
import { sourceIpOf } from '../http/incoming.ts';
import { MAX_BODY_BYTES, parseInput } from '../http/parse-input.ts';
import { acceptInvitation, requireInvitedUser } from './accept.ts';

const PATH = '/invitations/:token';

/** Serves the page behind an invitation: a form in which the user chooses a password. */
export function mountInvitationPage(app: Hono, deps: Deps): void {
  app.get(PATH, (c) => replyWithPage(c, deps, async () => [200, await formPage(c, deps, '')]));
  app.post(PATH, bodyLimit({ maxSize: MAX_BODY_BYTES }), (c) =>
    replyWithPage(c, deps, (requestId) => acceptForm(c, deps, requestId)),
  );
}

type Page = [status: number, content: Html];

async function acceptForm(c: Context, deps: Deps, requestId: string): Promise<Page> {
  const { password, again } = await c.req.parseBody();
  try {
    const chosen = parseInput(NewPassword, password, 'body');
    if (again !== chosen) throw new CloudError('bad_request', 'the two passwords differ');
    const { email } = await acceptInvitation({
      ...{ deps, token: tokenOf(c), password: chosen, requestId, now: new Date() },
      sourceIp: sourceIpOf(c, deps.trustedProxies),
    });
    return [200, layout('Done', html`<p>${email} can log in with the new password now.</p>`)];
  } catch (error) {
    const { status, body } = toErrorReply(error, requestId);
    if (body.code !== 'bad_request') throw error;
    return [status, await formPage(c, deps, body.message)];
  }
}

async function formPage(c: Context, deps: Deps, problem: string): Promise<Html> {
  const { email } = await requireInvitedUser(deps, tokenOf(c));
  return layout(
    'Choose a password',
    html`<p>For ${email}. Use at least 12 characters, not only common words.</p>
${problem && html`<p class="error" id="problem">${problem}</p>`}
<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="12" maxlength="1024" required>
<label for="again">The same password again</label>
<input id="again" name="again" type="password" autocomplete="new-password" minlength="12" maxlength="1024" required>
<button type="submit">Save</button>
</form>`,
  );
}

const tokenOf = (c: Context) => c.req.param('token') ?? '';

async function replyWithPage(
  c: Context,
  deps: Deps,
  step: (requestId: string) => Promise<Page>,
): Promise<Response> {
  const requestId = randomUUID();
  try {
    const [status, content] = await step(requestId);
    return c.html(content, status as 200, PAGE_HEADERS);
  } catch (error) {
    const { status, body, fault } = toErrorReply(error, requestId);
    if (fault !== undefined) {
      deps.log.error({ request_id: requestId, error: fault }, 'invitation page failed');
    }
    const content = layout('The request failed', html`<p>${body.message}</p>`);
    return c.html(content, status as 200, PAGE_HEADERS);
  }
}
