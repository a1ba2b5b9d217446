import { useObservable } from '../api/observable.ts';
import { classNames } from '../components/class-names.ts';
import { type Theme, theme } from './theme.ts';

const LABELS: [Theme, string][] = [
  ['system', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function ThemeSwitch() {
  const chosen = useObservable(theme);
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">Theme</legend>
      {LABELS.map(([value, label]) => (
        <label
          key={value}
          className={classNames(
            'flex-1 cursor-pointer rounded px-2 py-0.5 text-center text-xs has-focus-visible:outline-2 has-focus-visible:outline-accent',
            chosen === value ? 'bg-hover font-medium text-text' : 'text-muted hover:text-text',
          )}
        >
          <input
            type="radio"
            name="theme"
            className="sr-only"
            checked={chosen === value}
            onChange={() => theme.set(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
