import { expect, it } from 'vitest';
import { scriptOfPage } from './page-script.ts';

const fence = (word: string, body: string) => `\`\`\`${word}\n${body}\n\`\`\`\n`;

it('commands are executed in the order of the page, also those in lists', () => {
  const text = `# Page\n${fence('sh', 'one')}<!-- test: pull plug -->\n1. Then:\n\n   \`\`\`sh\n   two\n   \`\`\`\n`;
  expect(scriptOfPage('p.md', text).script).toBe(
    'echo "== p.md:2"\none\necho "== p.md:5"\nhands pull plug\necho "== p.md:8"\ntwo\n',
  );
});

it('commands for a machine name their test, and output is not executed', () => {
  const text = fence('sh tested-by=a.test.ts', 'poweroff') + fence('text', 'rm -rf /');
  const testedBy = [{ line: 1, path: 'a.test.ts' }];
  expect(scriptOfPage('p.md', text)).toEqual({ script: '', testedBy, unmarked: [] });
});

it('a block without a word is found', () => {
  expect(scriptOfPage('p.md', fence('', 'gantry host list')).unmarked).toEqual([1]);
});
