import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { neededLibraries } from './needed-libraries.ts';

describe('the libraries of a program', () => {
  it('are those that it is linked with', async () => {
    const names = neededLibraries(await readFile(process.execPath));
    expect(names).toContain('libc.so.6');
    for (const name of names) expect(name).toMatch(/^[\w+-]+\.so\.\d+$|^ld-linux[\w-]*\.so\.\d+$/);
  });

  it('are refused if the file is not a program', () => {
    expect(() => neededLibraries(Buffer.from('#!/bin/sh\n'))).toThrow('not an ELF file');
  });
});
