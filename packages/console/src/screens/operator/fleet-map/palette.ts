import type { Palette } from './draw.ts';

const VARIABLES: Record<keyof Palette, string> = {
  free: '--color-good',
  sold: '--color-accent-fill',
  cleaning: '--color-warn',
  blocked: '--color-bad',
  canvas: '--color-canvas',
  surface: '--color-surface',
  line: '--color-line-strong',
  text: '--color-text',
  muted: '--color-muted',
  selected: '--color-accent',
};

/** Returns the colours of the theme that is shown. A variable has both themes; only a used colour is one of them. */
export function readPalette(element: HTMLElement): Palette {
  const probe = document.createElement('span');
  element.parentElement?.append(probe);
  const entries = Object.entries(VARIABLES).map(([name, variable]) => {
    probe.style.color = `var(${variable})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Palette;
}
