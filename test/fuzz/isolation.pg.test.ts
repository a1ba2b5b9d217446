import { newId } from '@gantry/model/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, it } from 'vitest';
import { OPERATIONS, operationAt } from './document.ts';
import { fail, holds } from './property.ts';
import { anyRequest, type Bearer, goodRequest, type Plan } from './requests.ts';
import { RUNS, SEED, seedOf, TIMEOUT_MS } from './settings.ts';
import { type Exchange, type Subject, startSubject } from './subject.ts';
import { makeWorld, type Values, type World } from './world.ts';

/**
 * A stranger requests resources of another tenant by their real ids and must learn nothing: neither
 * from the content of a reply nor from how it differs from the reply for an id that does not exist.
 */
let subject: Subject;
let world: World;
/** The same callers with ids that do not exist. */
let emptiness: World;

beforeAll(async () => {
  subject = await startSubject();
  world = await makeWorld(subject.api);
  // Every tenant sees the catalogue, and may be told that an image is part of it.
  const { image_id = '' } = world.own;
  emptiness = { ...world, own: { ...invented(world.own), image_id } };
});
afterAll(() => subject.api.stop());

const strangers = fc.constantFrom<Bearer>('otherOwner', 'otherKey', 'otherReadOnlyKey', 'nobody');

/** The sender never has access to the resources in the request. */
const asStranger = (plans: fc.Arbitrary<Plan>) =>
  fc.tuple(plans, strangers).map(([plan, bearer]) => ({
    ...plan,
    ...{ bearer, headers: {} },
    // A name that the stranger gives to a resource would be the stranger's own from then on.
    body: plan.body && {
      ...plan.body,
      text: plan.body.text.replaceAll(/\{\{own\.(name|email|spare_email)\}\}/g, '{{other.$1}}'),
    },
  }));

/**
 * Half of the ids are the stranger's own, for example their project with the other tenant's
 * network.
 */
const halfOwn = (plan: Plan): Plan => ({
  ...plan,
  path: plan.path.replaceAll(/\{\{own\.(project_id|organization_id)\}\}/g, '{{other.$1}}'),
});

const requests = fc
  .constantFrom(...OPERATIONS)
  .chain((operation) =>
    fc.oneof(
      asStranger(goodRequest(operation)),
      asStranger(goodRequest(operation)).map(halfOwn),
      asStranger(anyRequest(operation)),
    ),
  );

it(`a stranger learns nothing (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  await holds({
    arbitrary: requests,
    seed: seedOf('isolation'),
    runs: RUNS * 15,
    async examine(plan) {
      const exchange = await subject.send(plan, world);
      const problems = leaks(exchange);
      if (exchange.status !== 200) {
        const toNothing = await subject.send(plan, emptiness);
        if (verdict(exchange) !== verdict(toNothing)) {
          problems.push(`ids of nothing get ${verdict(toNothing)}`);
        }
      } else if (reachesIn(exchange)) problems.push('a stranger was let in');
      if (problems.length > 0) fail(problems, exchange);
    },
  });
});

/** An image of the catalogue, and a user who is not a member of anything yet. */
const NOBODYS = ['image_id', 'user_id', 'spare_email'];

const ownValues = () => Object.entries(world.own).filter(([name]) => !NOBODYS.includes(name));

/** The values of the tenant that are not part of the request. */
function leaks({ sent, pathname, text }: Exchange): string[] {
  // It shows readers only what they requested themselves.
  if (pathname.endsWith('/audit-logs')) return [];
  const said = JSON.stringify(sent).toLowerCase();
  return ownValues()
    .filter(([, value]) => text.includes(value) && !said.includes(value.toLowerCase()))
    .map(([name]) => `the reply tells ${name}`);
}

function reachesIn({ sent, pathname }: Exchange): boolean {
  if (!operationAt(sent.method, pathname)) return false;
  const path = pathname.toLowerCase();
  return ownValues().some(([, value]) => path.includes(value));
}

/** Returns status and message without the parts that differ each time. */
function verdict({ status, text }: Exchange): string {
  const ids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
  return `${status} ${text.replaceAll(ids, '<id>')}`;
}

/** E-mail addresses stay, because everyone who knows an address may invite it. */
function invented(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, name.endsWith('_id') ? newId() : value]),
  );
}
