import { useState } from 'react';
import { Button } from './button.tsx';
import { CheckIcon, CopyIcon } from './icons.tsx';

const SHOWN_MS = 1_500;

/** Copies a text. `label` names it for people who cannot see the icon. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button
      look="ghost"
      size="small"
      aria-label={copied ? 'Copied' : `Copy ${label}`}
      title={`Copy ${label}`}
      onClick={() => void copy()}
    >
      {copied ? <CheckIcon /> : <CopyIcon />}
    </Button>
  );
}

/** Browsers have the clipboard only on HTTPS pages and on localhost. Elsewhere a selected text can be copied. */
async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) return clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
