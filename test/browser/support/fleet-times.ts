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

/** The times between frames of the browser while the map is dragged. Most frames have nothing to draw. */
type Frames = { frames: number; median_ms: number; p95_ms: number; longest_ms: number };

export async function dragMap(page: Page): Promise<Frames> {
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
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  const sorted = gaps.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { frames: sorted.length, median_ms: at(0.5), p95_ms: at(0.95), longest_ms: at(1) };
}

/** A channel of a pixel may differ by so much, because coordinates are rounded. */
const ROUNDING = 12;

/** How many values of the picture change if it is drawn anew as a whole. */
export async function countStalePixels(page: Page): Promise<number> {
  const read = `(() => {
    const canvas = document.querySelector('canvas');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  })()`;
  await page.evaluate(`window.moved = ${read}`);
  // To select no host draws everything.
  await page.getByRole('application').press('Escape');
  return (await page.evaluate(`new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const whole = ${read};
      resolve(whole.filter((value, index) => Math.abs(value - window.moved[index]) > ${ROUNDING}).length);
    }));
  })`)) as number;
}

/** How many pixels of the map have the colour of the marks on chosen GPUs and on their host. */
export async function countMarkedPixels(page: Page): Promise<number> {
  return (await page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    if (!canvas) return 0;
    const probe = document.createElement('span');
    probe.style.color = 'var(--color-accent)';
    document.body.append(probe);
    const one = document.createElement('canvas').getContext('2d');
    one.fillStyle = getComputedStyle(probe).color;
    probe.remove();
    one.fillRect(0, 0, 1, 1);
    const [red, green, blue] = one.getImageData(0, 0, 1, 1).data;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count += 1;
    return count;
  })()`)) as number;
}
