import { expect, it } from 'vitest';
import { scriptOfPage } from './page-script.ts';

const fence = (word: string, body: string) => `\`\`\`${word}\n${body}\n\`\`\`\n`;

it('commands are executed in the order of the page, also those in lists', () => {
  const text = `# Page\n${fence('sh', 'one')}<!-- test: pull plug -->\n1. Then:\n\n   \`\`\`sh\n   two\n   \`\`\`\n`;
  expect(scriptOfPage('p.md', text).script).toBe(
    'echo "== p.md:2"\none\necho "== p.md:5"\nsaid=$(hands pull plug)\neval "$said"\necho "== p.md:8"\ntwo\n',
  );
});

it('commands that are printed again are executed once', () => {
  expect(scriptOfPage('p.md', fence('sh', 'one') + fence('sh', 'one')).script).toBe(
    'echo "== p.md:1"\none\n',
  );
});

it('commands for a server are executed there', () => {
  expect(scriptOfPage('p.md', fence('sh on=HOST', 'poweroff')).script).toBe(
    'echo "== p.md:1"\nexport SERVER="$HOST"\npoweroff\nunset SERVER\n',
  );
});

it('commands for a machine name their test, and output is not executed', () => {
  const text = fence('sh tested-by=a.test.ts', 'poweroff') + fence('text', 'rm -rf /');
  const tested = [{ line: 1, path: 'a.test.ts', body: 'poweroff' }];
  expect(scriptOfPage('p.md', text)).toEqual({ script: '', tested, mistakes: [] });
});

it.each([
  ['', 'gantry host list', '"" is no word'],
  ['bash', 'gantry host list', '"bash" is no word'],
  ['sh tested-by=', 'gantry host list', '"sh tested-by=" is no word'],
  ['text', 'a line\n  sudo gantry host list', 'this block has commands'],
])('a block with the word "%s" and %s is a mistake', (word, body, mistake) => {
  expect(scriptOfPage('p.md', fence(word, body)).mistakes).toEqual([
    expect.stringContaining(mistake),
  ]);
});
