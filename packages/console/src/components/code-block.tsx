import { CopyButton } from './copy-button.tsx';
import { ScrollText } from './scroll-text.tsx';

/** Text to copy, such as a command. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="overflow-hidden rounded-md border border-line bg-canvas">
      <div className="flex items-center justify-between border-b border-line py-0.5 pr-0.5 pl-3 text-xs text-muted">
        {label}
        <CopyButton text={text} label={`the ${label}`} />
      </div>
      <ScrollText text={text} label={label} className="max-h-80" />
    </div>
  );
}
