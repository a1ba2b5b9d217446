import { build } from 'esbuild';

/** Some of the bundled code is CommonJS. */
const REQUIRE = "import{createRequire}from'node:module';const require=createRequire('/');";

/**
 * Bundles a program into one file of plain JavaScript that starts quickly, for tests that start it
 * often.
 */
export async function bundleProgram(source: string, outfile: string): Promise<void> {
  await build({
    ...{ entryPoints: [source], outfile, bundle: true },
    ...{ platform: 'node', format: 'esm', banner: { js: REQUIRE } },
  });
}
