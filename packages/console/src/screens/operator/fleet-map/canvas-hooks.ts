import { type PointerEvent, type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import type { Palette } from './draw.ts';
import type { Hit } from './layout.ts';
import { readPalette } from './palette.ts';
import type { Size } from './view.ts';

/** Called with what is under the pointer, or selected by the keyboard. */
export type OnPoint = (hit: (Hit & { at: { x: number; y: number } }) | null) => void;

export function useSizeOf(
  canvas: RefObject<HTMLCanvasElement | null>,
  onSize: (size: Size) => void,
) {
  const latest = useEffectEvent(onSize);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      latest({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [canvas]);
}

/** Reads the colours again when the theme of the page or of the system changes. */
export function useTheme(
  onChange: (palette: Palette) => void,
  canvas: RefObject<HTMLCanvasElement | null>,
) {
  const latest = useEffectEvent(onChange);
  useEffect(() => {
    const read = () => {
      if (canvas.current) latest(readPalette(canvas.current));
    };
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    const page = new MutationObserver(read);
    page.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      page.disconnect();
    };
  }, [canvas]);
}

/** React's own listener cannot keep the page from scrolling. */
export function useWheel(
  canvas: RefObject<HTMLCanvasElement | null>,
  onZoom: (at: { x: number; y: number }, factor: number) => void,
) {
  const latest = useEffectEvent(onZoom);
  useEffect(() => {
    const element = canvas.current;
    const zoom = (event: WheelEvent) => {
      event.preventDefault();
      latest({ x: event.offsetX, y: event.offsetY }, Math.exp(-event.deltaY / 500));
    };
    element?.addEventListener('wheel', zoom, { passive: false });
    return () => element?.removeEventListener('wheel', zoom);
  }, [canvas]);
}

type Pointing = {
  hit(at: { x: number; y: number }): Hit | null;
  onPan(by: { x: number; y: number }): void;
  onClick(hit: Hit): void;
  onPoint: OnPoint;
};

/** A pointer that moves less than this between press and release is a click. */
const CLICK_PIXELS = 4;

/** A pressed pointer moves the map; a short press opens what is under it. */
export function usePointers({ hit, onPan, onClick, onPoint }: Pointing) {
  const pressed = useRef<{ x: number; y: number; moved: number } | null>(null);
  return {
    onPointerDown(event: PointerEvent<HTMLCanvasElement>) {
      event.currentTarget.setPointerCapture(event.pointerId);
      pressed.current = { x: event.clientX, y: event.clientY, moved: 0 };
    },
    onPointerMove({ clientX, clientY, nativeEvent }: PointerEvent) {
      const at = { x: nativeEvent.offsetX, y: nativeEvent.offsetY };
      if (!pressed.current) {
        const found = hit(at);
        onPoint(found && { ...found, at });
        return;
      }
      const by = { x: clientX - pressed.current.x, y: clientY - pressed.current.y };
      const moved = pressed.current.moved + Math.hypot(by.x, by.y);
      pressed.current = { x: clientX, y: clientY, moved };
      onPan(by);
    },
    onPointerUp({ nativeEvent }: PointerEvent) {
      const isClick = (pressed.current?.moved ?? CLICK_PIXELS) < CLICK_PIXELS;
      pressed.current = null;
      const found = isClick ? hit({ x: nativeEvent.offsetX, y: nativeEvent.offsetY }) : null;
      if (found) onClick(found);
    },
    onPointerLeave() {
      if (!pressed.current) onPoint(null);
    },
  };
}
