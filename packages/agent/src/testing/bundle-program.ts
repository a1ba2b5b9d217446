import { build } from 'esbuild';

/** Some of what is bundled is CommonJS. */
const REQUIRE = "import{createRequire}from'node:module';const require=createRequire('/');";

/** A program as one file of plain JavaScript, which starts at once: for those that have many lives. */
export async function bundleProgram(source: string, outfile: string): Promise<void> {
  await build({
    ...{ entryPoints: [source], outfile, bundle: true },
    ...{ platform: 'node', format: 'esm', banner: { js: REQUIRE } },
  });
}
