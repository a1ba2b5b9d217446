import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Xterm } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef, useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Note } from '../../../components/note.tsx';

type TerminalProps = { projectId: string; vmId: string };

const LOOK = {
  fontFamily: 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSize: 13,
  convertEol: true,
  screenReaderMode: true,
  theme: { background: '#0c0e12', foreground: '#e8eaef', cursor: '#8aa9ff' },
};

/** A terminal on the serial line of a VM. */
export function Terminal({ projectId, vmId }: TerminalProps) {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'opening' | 'open' | 'closed'>('opening');
  const [reason, setReason] = useState('');
  const [error, setError] = useState<unknown>();

  useEffect(() => {
    if (place.current === null) return;
    const stop = new AbortController();
    const terminal = new Xterm(LOOK);
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    letTabOut(terminal);
    terminal.open(place.current);
    fit.fit();
    const resizing = new ResizeObserver(() => fit.fit());
    resizing.observe(place.current);
    openConsole({ projectId, vmId }, stop.signal)
      .then((socket) => {
        socket.onopen = () => {
          setState('open');
          terminal.focus();
        };
        socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) =>
          terminal.write(new Uint8Array(data));
        socket.onclose = (closing) => {
          setState('closed');
          setReason(closing.reason);
        };
        terminal.onData((typed) => socket.send(new TextEncoder().encode(typed)));
      })
      .catch((failure) => {
        if (!stop.signal.aborted) setError(failure);
      });
    return () => {
      stop.abort();
      resizing.disconnect();
      terminal.dispose();
    };
  }, [projectId, vmId]);

  return (
    <>
      <div
        ref={place}
        data-state={state}
        className="h-96 overflow-hidden rounded-md bg-[#0c0e12] p-2"
      />
      <p role="status" className="mt-2 text-sm text-muted">
        {state === 'opening' && error === undefined && 'Connecting …'}
        {state === 'open' &&
          'Connected. Press Enter to see a prompt; Escape and then Tab leave it.'}
      </p>
      {state === 'closed' && (
        <Note tone="warn" role="status">
          The connection was closed. {reason} Close the terminal and open it again to reconnect.
        </Note>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </>
  );
}

/** The guest gets every key. Without this, a person who has only a keyboard could not leave the terminal. */
function letTabOut(terminal: Xterm): void {
  let before = '';
  terminal.attachCustomKeyEventHandler(({ type, key }) => {
    if (type !== 'keydown' || key === 'Shift') return true;
    const leaves = key === 'Tab' && before === 'Escape';
    before = key;
    return !leaves;
  });
}

/** Browsers cannot send a bearer with a WebSocket, so a ticket that works once opens it. */
async function openConsole(
  { projectId, vmId }: TerminalProps,
  signal: AbortSignal,
): Promise<WebSocket> {
  const { ticket } = await gantry.consoles.createTicket(
    { project_id: projectId, vm_id: vmId },
    { signal },
  );
  // The page may have another address than the API gives for itself; only its own is allowed here.
  const url = new URL(`/v0.1/projects/${projectId}/vms/${vmId}/console`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('ticket', ticket);
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  signal.addEventListener('abort', () => socket.close());
  return socket;
}
