import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { type OnPoint, usePointers, useSizeOf, useTheme, useWheel } from './canvas-hooks.ts';
import { type ChosenGpus, drawFleet, drawHosts, drawMoved, type Picture } from './draw.ts';
import {
  applyHosts,
  type Cell,
  type FleetHost,
  type FleetLayout,
  hitTest,
  layoutFleet,
  type PlacedHost,
} from './layout.ts';
import { nextHost } from './next-host.ts';
import { readPalette } from './palette.ts';
import {
  fitAll,
  fitAround,
  type Point,
  panBy,
  reveal,
  type Size,
  toPlane,
  toScreen,
  type View,
  zoomAt,
} from './view.ts';

type FleetCanvasProps = {
  hosts: FleetHost[];
  matches(host: FleetHost, cell: Cell): boolean;
  onOpen(host: FleetHost, cell: Cell | null): void;
  onPoint: OnPoint;
  /** GPUs that are marked. The map begins around their host. A new choice needs a new map. */
  chosen?: ChosenGpus;
  /** What the map shows, for those who cannot see it. */
  label?: string;
};

const ZOOM_STEP = 1.25;

/**
 * The map. The picture is state of the canvas and not of React: an update of hosts draws these hosts alone, and a move
 * draws once per frame.
 */
export function FleetCanvas({
  hosts,
  matches,
  onOpen,
  onPoint,
  chosen,
  label = 'Fleet map',
}: FleetCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const picture = useRef<Picture | null>(null);
  const frame = useRef(0);
  /** How far the view has moved since the last drawing; null if more than that has changed. */
  const moved = useRef<Point | null>(null);
  /** The view follows the size of the window until a person has chosen one. */
  const isChosen = useRef(false);

  const drawSoon = (by: Point | null = null) => {
    const before = frame.current === 0 ? { x: 0, y: 0 } : moved.current;
    moved.current = by && before && { x: before.x + by.x, y: before.y + by.y };
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const context = canvas.current?.getContext('2d');
      if (!context || !picture.current) return;
      if (moved.current && isWhole(moved.current))
        drawMoved(context, picture.current, moved.current);
      else drawFleet(context, picture.current);
    });
  };
  const changeView = (change: (view: View, shown: Picture) => View, by: Point | null = null) => {
    if (!picture.current) return;
    isChosen.current = true;
    picture.current.view = change(picture.current.view, picture.current);
    drawSoon(by);
  };
  const zoomBy = (factor: number) =>
    changeView((view, shown) =>
      zoomAt(view, { x: shown.size.width / 2, y: shown.size.height / 2 }, factor),
    );
  const showAll = () => changeView((_, shown) => fitAll(shown.layout, shown.size));

  useSizeOf(canvas, setSize);
  useTheme((palette) => {
    if (picture.current) picture.current.palette = palette;
    drawSoon();
  }, canvas);
  const [mark] = useState(chosen ?? null);
  const isMatch = useEffectEvent((placed: PlacedHost, cell: Cell) => matches(placed.host, cell));
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || size.width === 0) return;
    const started = performance.now();
    const before = picture.current;
    const changed = before?.size === size ? changedHosts(before, hosts) : null;
    const dirty = before && changed && applyHosts(before.layout, changed);
    if (before && dirty) {
      drawHosts(context, before, dirty);
      moved.current = null;
      performance.measure('fleet map update', { start: started });
      return;
    }
    const { devicePixelRatio } = window;
    element.width = size.width * devicePixelRatio;
    element.height = size.height * devicePixelRatio;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const layout = layoutFleet(hosts, lineWidth(hosts.length, size));
    performance.measure('fleet map layout', { start: started });
    const palette = before?.palette ?? readPalette(element);
    const view = before && isChosen.current ? before.view : firstView(layout, size, mark);
    picture.current = {
      ...{ layout, view, size, palette, matches: isMatch, selected: null, chosen: mark },
    };
    drawFleet(context, picture.current);
    performance.measure('fleet map picture', { start: started });
  }, [hosts, size, mark]);
  // A new function means that the search or a filter has changed.
  useEffect(() => {
    void matches;
    drawSoon();
  }, [matches]);
  useWheel(canvas, (at, factor) => changeView((view) => zoomAt(view, at, factor)));

  const select = (placed: PlacedHost | null) => {
    if (!picture.current) return;
    picture.current.selected = placed;
    if (!placed) {
      drawSoon();
      onPoint(null);
      return;
    }
    changeView((view, shown) => reveal(view, placed, shown.size));
    const { x, y, width, height } = toScreen(picture.current.view, placed);
    onPoint({ placed, cell: null, at: { x: x + width, y: y + height } });
  };
  const pointers = usePointers({
    hit: (at) =>
      picture.current && hitTest(picture.current.layout, toPlane(picture.current.view, at)),
    onPan: (by) => changeView((view) => panBy(view, by), by),
    onClick: (hit) => onOpen(hit.placed.host, hit.cell),
    onPoint,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const shown = picture.current;
    if (!shown) return;
    const next = nextHost(shown.layout.hosts, shown.selected, event.key);
    if (next) select(next);
    else if (event.key === 'Enter' && shown.selected) onOpen(shown.selected.host, null);
    else if (event.key === 'Escape') select(null);
    else if (event.key === '+') zoomBy(ZOOM_STEP);
    else if (event.key === '-') zoomBy(1 / ZOOM_STEP);
    else if (event.key === '0') showAll();
    else return;
    event.preventDefault();
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: keys move between the hosts that are drawn here */}
      <canvas
        ref={canvas}
        role="application"
        aria-label={`${label}. Arrow keys move between hosts, Enter opens one, plus and minus zoom. The list has the same hosts.`}
        tabIndex={0}
        className="block h-full w-full touch-none rounded-lg"
        onKeyDown={onKeyDown}
        {...pointers}
      />
      <div className="absolute right-2 bottom-2 flex gap-1">
        <Button size="small" aria-label="Zoom in" onClick={() => zoomBy(ZOOM_STEP ** 2)}>
          +
        </Button>
        <Button size="small" aria-label="Zoom out" onClick={() => zoomBy(1 / ZOOM_STEP ** 2)}>
          −
        </Button>
        <Button size="small" onClick={showAll}>
          Show all
        </Button>
      </div>
    </>
  );
}

/** The hosts that are not the same objects as before; null if their number differs. */
function changedHosts({ layout }: Picture, hosts: readonly FleetHost[]): FleetHost[] | null {
  if (layout.hosts.length !== hosts.length) return null;
  const before = new Set(layout.hosts.map(({ host }) => host));
  return hosts.filter((host) => !before.has(host));
}

function firstView(layout: FleetLayout, size: Size, chosen: ChosenGpus | null): View {
  const host = layout.hosts.find((placed) => placed.host.id === chosen?.hostId);
  return host ? fitAround(host, layout, size) : fitAll(layout, size);
}

function isWhole({ x, y }: Point): boolean {
  return Number.isInteger(x * devicePixelRatio) && Number.isInteger(y * devicePixelRatio);
}

/** Wide enough that the whole fleet has about the shape of the canvas. */
function lineWidth(hosts: number, { width, height }: Size): number {
  const area = hosts * 120 * 36;
  return Math.max(Math.min(width, 1100), Math.sqrt((area * width) / Math.max(height, 1)));
}
