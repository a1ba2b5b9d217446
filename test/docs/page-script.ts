/**
 * Turns a page of documentation into one bash script, so that its commands are executed as they are
 * printed. The word after the fence says what a block is:
 *
 * - `sh`: commands, which the test executes in the order of the page, in one shell, and once if they are printed again;
 * - `sh on=VARIABLE`: the same on the server whose name the variable has;
 * - `sh tested-by=PATH`: commands that need a machine; the test at this path takes them from the page and executes them;
 * - `sh checked-by=PATH`: commands that need what no test has, such as a cluster of Kubernetes; the test at this path
 *   takes them from the page and compares what they name with what exists;
 * - another word, such as `text`: no commands.
 *
 * `<!-- test: … -->` is what people do with their hands between two commands; the world of the test does it in their
 * place.
 */
export type PageScript = {
  script: string;
  /** Blocks that name a test. */
  tested: TestedBlock[];
  /** Lines with a word that says nothing about the block, or with commands in a block that has none. */
  mistakes: string[];
};
export type TestedBlock = { line: number; path: string; body: string };

/** Blocks that have no commands. */
const OTHER_WORDS = ['text', 'ini', 'json', 'sql', 'yaml'];
const PROGRAMS =
  /^\s*(sudo |\w+=\S+ )*(gantry|gantry-[a-z-]+|apt|apt-get|ceph|curl|install|journalctl|kubectl|npm|promtool|rbd|systemctl)( |$)/;

export function scriptOfPage(page: string, text: string): PageScript {
  const found: PageScript = { script: '', tested: [], mistakes: [] };
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const hands = /^ *<!-- test: (.*) -->$/.exec(lines[index] ?? '');
    if (hands)
      found.script += step(`${page}:${index + 1}`, `said=$(hands ${hands[1]})\neval "$said"`);
    const fence = /^( *)```(.*)$/.exec(lines[index] ?? '');
    if (!fence) continue;
    const [, indent = '', info = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end === -1) throw new Error(`${page}:${index + 1}: the block has no end`);
    const body = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
    read({ where: `${page}:${index + 1}`, line: index + 1, info, body }, found);
    index = end;
  }
  return found;
}

type Block = { where: string; line: number; info: string; body: string[] };

function read({ where, line, info, body }: Block, found: PageScript): void {
  const [word, ...rest] = info.split(' ');
  const [, kind = '', value = ''] = /^(on|tested-by|checked-by)=(\S+)$/.exec(rest.join(' ')) ?? [];
  const commands = body.join('\n');
  const execute = (script: string) => {
    if (!found.script.includes(`\n${script}\n`)) found.script += step(where, script);
  };
  if (word === 'sh' && rest.length === 0) execute(commands);
  else if (word === 'sh' && kind === 'on')
    execute(`export SERVER="$${value}"\n${commands}\nunset SERVER`);
  else if (word === 'sh' && kind !== '') found.tested.push({ line, path: value, body: commands });
  else if (!OTHER_WORDS.includes(info)) found.mistakes.push(`${where}: "${info}" is no word`);
  else if (body.some((each) => PROGRAMS.test(each)))
    found.mistakes.push(`${where}: this block has commands, so its word is sh`);
}

/** Each step prints where it is, so that a failure names its line. */
function step(where: string, commands: string): string {
  return `echo "== ${where}"\n${commands}\n`;
}
