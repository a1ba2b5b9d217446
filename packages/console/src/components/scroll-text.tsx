import { classNames } from './class-names.ts';

type ScrollTextProps = { text: string; label: string; className: string };

/** Text that scrolls in its place. The keyboard reaches it, because otherwise it could not be scrolled. */
export function ScrollText({ text, label, className }: ScrollTextProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
      tabIndex={0}
      className={classNames('overflow-auto bg-canvas p-3', className)}
    >
      <pre className="font-mono text-xs leading-5">{text}</pre>
    </section>
  );
}
