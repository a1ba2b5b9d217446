import { observable } from '../api/observable.ts';

/** `system` follows the preference of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'gantry.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = observable<Theme>(stored());

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return THEMES.find((each) => each === value) ?? 'system';
}

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

/** Shows the stored theme, and stores each choice. */
export function startTheme(): void {
  show(theme.get());
  theme.subscribe((chosen) => {
    localStorage.setItem(KEY, chosen);
    show(chosen);
  });
}
