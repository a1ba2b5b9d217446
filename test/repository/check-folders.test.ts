import { describe, expect, it } from 'vitest';

const script = new URL('../../scripts/check-folders.mjs', import.meta.url).href;
const { findCycles, findFolderProblems, findFullFolders, findLongFiles } = await import(script);

const cyclesOf = (files: Record<string, string>) =>
  findCycles(Object.keys(files), (file: string) => files[file]);

it('no package of the workspace has a folder cycle, a full folder or a long file', () => {
  expect(findFolderProblems()).toEqual([]);
});

describe('a cycle is reported', () => {
  it('with its folders and the imports between them, if two folders import each other', () => {
    const problems = cyclesOf({
      'src/a/one.ts': "import { two } from '../b/two.ts';",
      'src/b/two.ts': "import type { One } from '../a/one.ts';",
    });
    expect(problems).toEqual([
      'import cycle in src: a -> b -> a\n' +
        '  src/a/one.ts imports src/b/two.ts\n' +
        '  src/b/two.ts imports src/a/one.ts',
    ]);
  });

  it('if it passes through different files of a folder', () => {
    const problems = cyclesOf({
      'src/a/one.ts': "import { two } from '../b/c/two.ts';",
      'src/b/c/two.ts': '',
      'src/b/d/three.ts': "const load = () => import('../../a/one.ts');",
    });
    expect(problems).toHaveLength(1);
  });

  it('if a file and the folder beside it import each other', () => {
    const problems = cyclesOf({
      'src/one.ts': "import { two } from './b/two.ts';",
      'src/b/two.ts': "import { one } from '../one.ts';",
    });
    expect(problems).toHaveLength(1);
  });
});

it('folders below an entry file may share the files beside it', () => {
  const problems = cyclesOf({
    'src/main.ts': "import { two } from './b/two.ts'; import { base } from './base.ts';",
    'src/b/two.ts': "import { base } from '../base.ts';",
    'src/base.ts': '',
  });
  expect(problems).toEqual([]);
});

it('a folder with more than 25 files is reported', () => {
  const files = (count: number) => Array.from({ length: count }, (_, at) => `src/a/${at}.ts`);
  expect(findFullFolders(files(25))).toEqual([]);
  expect(findFullFolders(files(26))).toEqual(['src/a has 26 files, more than 25']);
});

it('a file with more than 300 lines is reported', () => {
  const problemsOf = (lines: number) => findLongFiles(['src/a.ts'], () => 'line\n'.repeat(lines));
  expect(problemsOf(300)).toEqual([]);
  expect(problemsOf(301)).toEqual(['src/a.ts has 301 lines, more than 300']);
});
