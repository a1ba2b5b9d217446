import { CopyButton } from './copy-button.tsx';
import { ScrollText } from './scroll-text.tsx';

/** Text to copy, such as a command. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="relative">
      <ScrollText text={text} label={label} className="max-h-96 pr-12" />
      <div className="absolute top-1.5 right-1.5 rounded-md bg-canvas">
        <CopyButton text={text} label={label} />
      </div>
    </div>
  );
}
