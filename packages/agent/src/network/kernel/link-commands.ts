import type { RunCommand } from './run-command.ts';

/** Starting a program takes longer than its work, so many commands share one. */
export async function batch(
  run: RunCommand,
  program: 'ip' | 'bridge' | 'tc',
  lines: readonly string[],
) {
  if (lines.length > 0) await run(program, ['-batch', '-'], `${lines.join('\n')}\n`);
}

/** Guests have no IPv6 yet, and the host must not accept IPv6 from them. */
export async function withoutIpv6(run: RunCommand, links: readonly string[]): Promise<void> {
  // -e: a kernel without IPv6 has no such setting.
  const settings = links.map((link) => `net.ipv6.conf.${link}.disable_ipv6=1`);
  if (settings.length > 0) await run('sysctl', ['-eqw', ...settings]);
}
