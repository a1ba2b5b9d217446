import type { Command, RouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { ENVIRONMENT, EXIT_MEANINGS, FILES } from './facts.ts';
import { bold, escapeRoff, italic, item, section } from './roff.ts';

/**
 * Renders the manual from the definitions of the commands, which are also the source of `--help`. There
 * is a page of the program, and one of each of its commands with all its subcommands.
 */
export type Page = { name: string; text: string };
type Target = Command<CliContext> | RouteMap<CliContext>;

export function renderPages(root: RouteMap<CliContext>, version: string): Page[] {
  const commands = entriesOf(root);
  const page = (name: string, ...sections: readonly string[]): Page => ({
    name,
    text: `${[`.TH ${escapeRoff(name.toUpperCase())} 1 "" "gantry ${version}" "Gantry"`, ...sections].join('\n')}\n`,
  });
  return [
    page('gantry', ...programSections(root, commands)),
    ...commands.map(({ name, target }) =>
      page(`gantry-${name}`, ...commandSections(`gantry ${name}`, target)),
    ),
  ];
}

type Entry = { name: string; target: Target };

function entriesOf(routes: RouteMap<CliContext>): Entry[] {
  return routes
    .getAllEntries()
    .filter(({ hidden }) => !hidden)
    .map(({ name, target }) => ({ name: name['convert-camel-to-kebab'], target }));
}

const isRouteMap = (target: Target): target is RouteMap<CliContext> => 'getAllEntries' in target;

function programSections(root: RouteMap<CliContext>, commands: readonly Entry[]): string[] {
  return [
    section('NAME', `gantry \\- ${escapeRoff(root.brief)}`),
    section('SYNOPSIS', `${bold('gantry')} ${italic('command')} [${italic('argument')} ...]`),
    section('DESCRIPTION', ...sentences(root.fullDescription)),
    section(
      'COMMANDS',
      ...commands.map(({ name, target }) =>
        item(`\\fBgantry\\-${escapeRoff(name)}\\fR(1)`, escapeRoff(target.brief)),
      ),
    ),
    section(
      'ENVIRONMENT',
      ...ENVIRONMENT.map(([name, text]) => item(bold(name), escapeRoff(text))),
    ),
    section('FILES', ...FILES.map(([name, text]) => item(italic(name), escapeRoff(text)))),
    section(
      'EXIT STATUS',
      ...EXIT_MEANINGS.map(([code, text]) => item(bold(String(code)), escapeRoff(text))),
    ),
  ];
}

function commandSections(words: string, target: Target): string[] {
  const name = section(
    'NAME',
    `${escapeRoff(words.replaceAll(' ', '-'))} \\- ${escapeRoff(target.brief)}`,
  );
  const more = section('SEE ALSO', '\\fBgantry\\fR(1)');
  if (!isRouteMap(target))
    return [
      name,
      section('SYNOPSIS', usageOf(words, target)),
      section('DESCRIPTION', ...descriptionOf(target)),
      section('OPTIONS', ...flagsOf(target)),
      more,
    ];
  const commands = entriesOf(target).flatMap((entry) => subcommand(words, entry));
  const synopsis = `${bold(words)} ${italic('command')} [${italic('argument')} ...]`;
  return [name, section('SYNOPSIS', synopsis), section('COMMANDS', ...commands), more];
}

function subcommand(words: string, { name, target }: Entry): string[] {
  const path = `${words} ${name}`;
  if (isRouteMap(target)) return entriesOf(target).flatMap((entry) => subcommand(path, entry));
  return [`.SS ${usageOf(path, target)}`, ...descriptionOf(target), ...flagsOf(target)];
}

function descriptionOf({ brief, fullDescription }: Target): string[] {
  return [`${escapeRoff(brief)}.`, ...sentences(fullDescription)];
}

function sentences(text: string | undefined): string[] {
  return text === undefined ? [] : text.split('\n').map((line) => escapeRoff(line));
}

function usageOf(words: string, { parameters: { positional } }: Command<CliContext>): string {
  const given =
    positional?.kind === 'array'
      ? [`${italic(positional.parameter.placeholder ?? 'argument')} ...`]
      : (positional?.parameters ?? []).map((each) => {
          const placeholder = italic(each.placeholder ?? 'argument');
          return each.optional || each.default !== undefined ? `[${placeholder}]` : placeholder;
        });
  return [bold(words), `[${italic('option')} ...]`, ...given].join(' ');
}

type Flag = NonNullable<Command<CliContext>['parameters']['flags']>[string];

function flagsOf({ parameters: { flags = {}, aliases = {} } }: Command<CliContext>): string[] {
  return Object.entries(flags).map(([name, flag]) => {
    const short = Object.entries(aliases).find(([, long]) => long === name)?.[0];
    const names = [...(short === undefined ? [] : [`-${short}`]), flagName(name, flag)];
    const value = placeholderOf(flag);
    const term = `${names.map(bold).join(', ')}${value === '' ? '' : ` ${italic(value)}`}`;
    return item(term, `${escapeRoff(flag.brief)}${escapeRoff(noteOf(flag))}.`);
  });
}

/** A switch that is on unless it is turned off is shown with the flag that does so. */
function flagName(name: string, flag: Flag): string {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return flag.kind === 'boolean' && flag.default === true ? `--[no-]${kebab}` : `--${kebab}`;
}

function placeholderOf(flag: Flag): string {
  if (flag.kind === 'enum') return flag.placeholder ?? flag.values.join('|');
  return flag.kind === 'parsed' ? (flag.placeholder ?? 'value') : '';
}

function noteOf(flag: Flag): string {
  const shown = 'default' in flag && flag.kind !== 'boolean' ? flag.default : undefined;
  if (shown !== undefined) return ` (default: ${String(shown)})`;
  const isOptional = ('optional' in flag && flag.optional) || flag.kind === 'boolean';
  return isOptional ? '' : ' (required)';
}
