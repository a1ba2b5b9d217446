import type { Box, Cell, FleetLayout, GpuState, PlacedHost, Titled } from './layout.ts';
import { comesIntoSight, isVisible, type Point, type Size, toScreen, type View } from './view.ts';

/** Draws the fleet. Each state has a shape too, so that it can be told apart without its colour. */

export type Palette = Record<
  GpuState | 'canvas' | 'surface' | 'line' | 'text' | 'muted' | 'selected',
  string
>;

export type Picture = {
  layout: FleetLayout;
  view: View;
  size: Size;
  palette: Palette;
  /** GPUs that a search or filter excludes are drawn pale. */
  matches(placed: PlacedHost, cell: Cell): boolean;
  selected: PlacedHost | null;
  /** The GPUs that a placement would choose have a mark. */
  chosen: ChosenGpus | null;
};
export type ChosenGpus = { hostId: string; addresses: readonly string[] };

/** Cells that are smaller than this many pixels are drawn without their shape. */
const SHAPE_FROM = 6;
/** Names are drawn from this scale on, because they would not be legible below. */
const NAMES_FROM = 0.75;
const TITLES_FROM = 0.3;
const PALE = 0.16;
const STATES: GpuState[] = ['free', 'sold', 'cleaning', 'blocked'];

export function drawFleet(context: CanvasRenderingContext2D, picture: Picture): void {
  drawPart(context, picture, { x: 0, y: 0, ...picture.size });
}

/**
 * Moves what is drawn, and draws what comes into sight: most of a large fleet stays in sight. `by` is in pixels of the
 * screen; only whole pixels can be moved without a blur.
 */
export function drawMoved(context: CanvasRenderingContext2D, picture: Picture, by: Point): void {
  context.save();
  context.resetTransform();
  context.globalCompositeOperation = 'copy';
  context.drawImage(context.canvas, by.x * devicePixelRatio, by.y * devicePixelRatio);
  context.restore();
  for (const strip of comesIntoSight(picture.size, by)) {
    context.save();
    context.beginPath();
    context.rect(strip.x, strip.y, strip.width, strip.height);
    context.clip();
    drawPart(context, picture, strip);
    context.restore();
  }
}

function drawPart(context: CanvasRenderingContext2D, picture: Picture, part: Box): void {
  const { layout, view, palette } = picture;
  context.fillStyle = palette.canvas;
  context.fillRect(part.x, part.y, part.width, part.height);
  const whole = layout.locations.map((location) => ({ ...location, width: layout.width }));
  drawTitles(context, picture, whole, { size: 15, colour: palette.text });
  if (view.scale >= TITLES_FROM)
    drawTitles(context, picture, layout.racks, { size: 11, colour: palette.muted });
  drawHosts(
    context,
    picture,
    layout.hosts.filter((placed) => isVisible(view, placed, part)),
  );
}

/** Draws hosts over what is there. An update of some hosts needs nothing else. */
export function drawHosts(
  context: CanvasRenderingContext2D,
  picture: Picture,
  hosts: readonly PlacedHost[],
): void {
  for (const placed of hosts) drawFrame(context, picture, placed);
  const [pale, clear] = [newGroups(), newGroups()];
  for (const placed of hosts)
    for (const cell of placed.cells)
      (picture.matches(placed, cell) ? clear : pale)[cell.state].push(cell);
  context.globalAlpha = PALE;
  for (const state of STATES) drawCells(context, picture, state, pale[state]);
  context.globalAlpha = 1;
  for (const state of STATES) drawCells(context, picture, state, clear[state]);
  const { chosen } = picture;
  if (!chosen) return;
  const onHost = hosts.find(({ host }) => host.id === chosen.hostId);
  for (const cell of onHost?.cells ?? [])
    if (chosen.addresses.includes(cell.address)) drawMark(context, picture, cell);
}

/** A ring around the cell and a dot in it, which no state has. */
function drawMark(context: CanvasRenderingContext2D, { view, palette }: Picture, cell: Cell): void {
  const { x, y, width, height } = toScreen(view, cell);
  const ring = Math.max(1.5, view.scale);
  context.strokeStyle = palette.selected;
  context.fillStyle = palette.selected;
  context.lineWidth = ring;
  context.strokeRect(x - ring / 2, y - ring / 2, width + ring, height + ring);
  context.beginPath();
  context.arc(x + width / 2, y + height / 2, width / 4, 0, 2 * Math.PI);
  context.fill();
}

const newGroups = (): Record<GpuState, Cell[]> => ({
  ...{ free: [], sold: [], cleaning: [], blocked: [] },
});

/** One path for all cells of a state is many times faster than one for each. */
function drawCells(
  context: CanvasRenderingContext2D,
  { view, palette }: Picture,
  state: GpuState,
  cells: Cell[],
): void {
  if (cells.length === 0) return;
  const boxes = cells.map((cell) => toScreen(view, cell));
  const hasShape = (boxes[0]?.width ?? 0) >= SHAPE_FROM;
  context.beginPath();
  for (const { x, y, width, height } of boxes) {
    const inset = hasShape && state !== 'sold' ? 0.75 : 0;
    context.rect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
  }
  context.fillStyle = palette[state];
  context.strokeStyle = palette[state];
  context.lineWidth = 1.5;
  if (!hasShape || state === 'sold') {
    context.fill();
    return;
  }
  if (state === 'blocked')
    for (const { x, y, width, height } of boxes) {
      context.moveTo(x + 2, y + 2);
      context.lineTo(x + width - 2, y + height - 2);
      context.moveTo(x + width - 2, y + 2);
      context.lineTo(x + 2, y + height - 2);
    }
  context.stroke();
  if (state !== 'cleaning') return;
  context.beginPath();
  for (const { x, y, width, height } of boxes) context.rect(x, y + height / 2, width, height / 2);
  context.fill();
}

function drawFrame(context: CanvasRenderingContext2D, picture: Picture, placed: PlacedHost): void {
  const { view, palette, selected, chosen } = picture;
  const { x, y, width, height } = toScreen(view, placed);
  const isClosed = placed.host.closed_reason !== '';
  const isSelected = [selected?.host.id, chosen?.hostId].includes(placed.host.id);
  context.fillStyle = palette.surface;
  context.fillRect(x, y, width, height);
  context.lineWidth = isSelected ? 2 : 1;
  context.strokeStyle = isSelected ? palette.selected : isClosed ? palette.blocked : palette.line;
  if (isClosed && !isSelected) context.setLineDash([4, 3]);
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  if (isClosed && !isSelected) context.setLineDash([]);
  if (view.scale < NAMES_FROM) return;
  context.fillStyle = isClosed ? palette.blocked : palette.muted;
  writeText(context, placed.host.name, {
    ...{ x: x + 3 * view.scale, y: y + 9.5 * view.scale, size: 8 * view.scale },
    width: width - 6 * view.scale,
  });
}

function drawTitles(
  context: CanvasRenderingContext2D,
  { view, size: canvas }: Picture,
  titles: readonly Titled[],
  { size, colour }: { size: number; colour: string },
): void {
  context.fillStyle = colour;
  for (const titled of titles) {
    if (!isVisible(view, titled, { x: 0, y: 0, ...canvas })) continue;
    const { x, y, width } = toScreen(view, titled);
    // Titles stay legible when the map is small, as far as there is room for them.
    const pixels = Math.max(9, size * Math.min(view.scale, 1.4));
    writeText(context, titled.title, {
      x,
      y: y + pixels,
      size: pixels,
      width: Math.max(width, 80),
    });
  }
}

type Line = { x: number; y: number; width: number; size: number };

/** Ends a text that is too long with an ellipsis. */
function writeText(context: CanvasRenderingContext2D, text: string, line: Line): void {
  context.font = `${line.size}px ui-sans-serif, system-ui, sans-serif`;
  let shown = text;
  // The end of a host name tells hosts apart, so its beginning is left out.
  while (shown.length > 4 && context.measureText(shown).width > line.width)
    shown = `…${shown.slice(shown.startsWith('…') ? 3 : 2)}`;
  context.fillText(shown, line.x, line.y);
}
