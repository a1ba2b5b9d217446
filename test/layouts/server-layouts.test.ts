import { PUBLISHED_SERVERS } from '@gantry/simulator/servers/published-servers';
import { simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { expect, it } from 'vitest';
import { layoutHost } from './layout-host.ts';
import { offerOf } from './offer.ts';
import { renderPage } from './page.ts';

const offers = Promise.all(
  PUBLISHED_SERVERS.map(async (server) => {
    const host = layoutHost(server.name, await simulatedInventory(server));
    return { server, offer: offerOf(host) };
  }),
);

it('every GPU of every server is sold, or the whole server has too little left for one more VM', async () => {
  const unsold = (await offers).filter(({ offer }) => offer.sold < offer.gpus);
  for (const { server, offer } of unsold)
    expect([server.name, offer.reason, offer.isUsedUp]).toEqual([server.name, offer.reason, true]);
});

it('the page about server layouts shows what is sold now: if not, update it', async () => {
  const page = renderPage(await offers);
  await expect(page).toMatchFileSnapshot('../../docs/operators/server-layouts.md');
});
