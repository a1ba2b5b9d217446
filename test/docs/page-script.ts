/**
 * Turns a page of documentation into one bash script, so that its commands are executed as they are
 * printed. The word after the fence says what a block is:
 *
 * - `sh`: commands, which the test executes in the order of the page, in one shell;
 * - `sh tested-by=PATH`: commands that need a machine; the test at this path does what they do;
 * - another word, such as `text`: no commands.
 *
 * A block without a word is a mistake. `<!-- test: … -->` is what people do with their hands between two
 * commands; the world of the test does it in their place.
 */
export type PageScript = {
  script: string;
  /** Paths after `tested-by=`, with their lines. */
  testedBy: { line: number; path: string }[];
  /** Lines of blocks without a word. */
  unmarked: number[];
};

export function scriptOfPage(page: string, text: string): PageScript {
  const found: PageScript = { script: '', testedBy: [], unmarked: [] };
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const hands = /^<!-- test: (.*) -->$/.exec(lines[index] ?? '');
    if (hands) found.script += step(`${page}:${index + 1}`, `hands ${hands[1]}`);
    const fence = /^( *)```(.*)$/.exec(lines[index] ?? '');
    if (!fence) continue;
    const [, indent = '', info = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end === -1) throw new Error(`${page}:${index + 1}: the block has no end`);
    const [word = '', path] = info.split(' tested-by=');
    if (word === '') found.unmarked.push(index + 1);
    if (path !== undefined) found.testedBy.push({ line: index + 1, path });
    const body = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
    if (info === 'sh') found.script += step(`${page}:${index + 1}`, body.join('\n'));
    index = end;
  }
  return found;
}

/** Each step prints where it is, so that a failure names its line. */
function step(where: string, commands: string): string {
  return `echo "== ${where}"\n${commands}\n`;
}
