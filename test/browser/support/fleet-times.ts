import type { Page } from 'playwright-core';

/** How long each part took between the click on the link of the fleet map and its first picture. */
type FleetTimes = {
  until_request_ms: number;
  request_ms: number;
  /** Parsing the reply, and rendering the page around the map. */
  parse_and_render_ms: number;
  layout_ms: number;
  draw_ms: number;
  requests: number;
};

/** The test has set `window.openedAt` before the click. */
export function readFleetTimes(page: Page): Promise<FleetTimes> {
  return page.evaluate(`(() => {
    const requests = performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('/v0.1/admin/fleet'));
    const [request] = requests;
    const [picture] = performance.getEntriesByName('fleet map picture');
    const [layout] = performance.getEntriesByName('fleet map layout');
    return {
      until_request_ms: request.startTime - window.openedAt,
      request_ms: request.duration,
      parse_and_render_ms: picture.startTime - request.responseEnd,
      layout_ms: layout.duration,
      draw_ms: picture.duration - layout.duration,
      requests: requests.length,
    };
  })()`) as Promise<FleetTimes>;
}

const MOVES = 60;

/** Drags the map across the canvas. Returns the time between each two frames of the browser meanwhile. */
export async function dragMap(page: Page): Promise<number[]> {
  const box = await page.getByRole('application').boundingBox();
  if (!box) throw new Error('the map is not shown');
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.evaluate(`(() => {
    window.frameTimes = [];
    const next = (at) => { window.frameTimes.push(at); window.frame = requestAnimationFrame(next); };
    window.frame = requestAnimationFrame(next);
  })()`);
  for (let move = 1; move <= MOVES; move += 1)
    await page.mouse.move(middle.x + 2 * move, middle.y + move);
  const times = (await page.evaluate(
    'cancelAnimationFrame(window.frame); window.frameTimes',
  )) as number[];
  await page.mouse.up();
  return times.slice(1).map((at, index) => at - (times[index] ?? at));
}
