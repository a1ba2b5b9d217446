import { buildChoiceParser, buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';

/**
 * Each script calls `gantry __complete` with the words up to the cursor. It prints a completion per
 * line, and after a tab its meaning, which fish shows.
 */
const SCRIPTS = {
  bash: `_gantry() {
  local IFS=$'\\n'
  COMPREPLY=($(gantry __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _gantry gantry
`,
  zsh: `#compdef gantry
_gantry() {
  local -a found
  found=(\${(f)"$(gantry __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | cut -f1)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _gantry gantry
`,
  fish: `function __gantry_complete
  set -l words (commandline -opc)
  set -l partial (commandline -ct)
  gantry __complete $words[2..] "$partial" 2>/dev/null
end
complete -c gantry -a '(__gantry_complete)'
`,
} as const;

type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as Shell[];

export const completionCommand = buildCommand<Record<never, never>, [Shell], CliContext>({
  docs: {
    brief: 'Print a script that completes commands and names in a shell',
    fullDescription:
      'bash: source <(gantry completion bash), in ~/.bashrc. ' +
      'zsh: source <(gantry completion zsh), in ~/.zshrc after compinit. ' +
      'fish: gantry completion fish | source, in ~/.config/fish/config.fish.',
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          ...{ brief: 'bash, zsh or fish', placeholder: 'shell' },
          parse: buildChoiceParser(SHELLS),
          proposeCompletions: () => SHELLS,
        },
      ],
    },
  },
  func(_, shell) {
    this.process.stdout.write(SCRIPTS[shell]);
  },
});
