import type { Box } from './layout.ts';

/** What part of the plane the canvas shows: a point of the plane is at `(point - origin) * scale`. */
export type View = { x: number; y: number; scale: number };
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };

const MIN_SCALE = 0.05;
const MAX_SCALE = 4;
/** A small fleet is not drawn larger than this by itself. */
const FIT_SCALE = 2;
/** Names of hosts can be read from this scale on. */
const READABLE_SCALE = 1.25;
const MARGIN = 16;

export function toPlane(view: View, at: Point): Point {
  return { x: at.x / view.scale + view.x, y: at.y / view.scale + view.y };
}

export function toScreen(view: View, box: Box): Box {
  return {
    x: (box.x - view.x) * view.scale,
    y: (box.y - view.y) * view.scale,
    width: box.width * view.scale,
    height: box.height * view.scale,
  };
}

/** Shows everything. */
export function fitAll(plane: Size, canvas: Size): View {
  const scale = Math.min(
    (canvas.width - 2 * MARGIN) / Math.max(1, plane.width),
    (canvas.height - 2 * MARGIN) / Math.max(1, plane.height),
  );
  const bounded = clamp(scale, MIN_SCALE, FIT_SCALE);
  return { x: -MARGIN / bounded, y: -MARGIN / bounded, scale: bounded };
}

/** Shows a box in the middle, with as much around it as can be read. Shows everything if all of it can be read. */
export function fitAround(box: Box, plane: Size, canvas: Size): View {
  const all = fitAll(plane, canvas);
  if (all.scale >= READABLE_SCALE) return all;
  const scale = READABLE_SCALE;
  return {
    scale,
    x: box.x + box.width / 2 - canvas.width / 2 / scale,
    y: box.y + box.height / 2 - canvas.height / 2 / scale,
  };
}

/** Changes the scale so that the point of the plane under the pointer stays there. */
export function zoomAt(view: View, at: Point, factor: number): View {
  const scale = clamp(view.scale * factor, MIN_SCALE, MAX_SCALE);
  const fixed = toPlane(view, at);
  return { scale, x: fixed.x - at.x / scale, y: fixed.y - at.y / scale };
}

export function panBy(view: View, by: Point): View {
  return { ...view, x: view.x - by.x / view.scale, y: view.y - by.y / view.scale };
}

/** Moves as little as needed to show the box. */
export function reveal(view: View, box: Box, canvas: Size): View {
  const shown = toScreen(view, box);
  const shift = (start: number, length: number, room: number) =>
    start < MARGIN ? MARGIN - start : Math.min(0, room - MARGIN - start - length);
  return panBy(view, {
    x: shift(shown.x, shown.width, canvas.width),
    y: shift(shown.y, shown.height, canvas.height),
  });
}

/** Whether a box is in a part of the canvas, at least partly. */
export function isVisible(view: View, box: Box, part: Box): boolean {
  const { x, y, width, height } = toScreen(view, box);
  return (
    x < part.x + part.width && y < part.y + part.height && x + width > part.x && y + height > part.y
  );
}

/** The strips of the canvas that were not in sight before the picture was moved. */
export function comesIntoSight({ width, height }: Size, by: Point): Box[] {
  const columns = Math.min(Math.abs(by.x), width);
  const rows = Math.min(Math.abs(by.y), height);
  return [
    { x: by.x > 0 ? 0 : width - columns, y: 0, width: columns, height },
    { x: 0, y: by.y > 0 ? 0 : height - rows, width, height: rows },
  ].filter((strip) => strip.width > 0 && strip.height > 0);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
