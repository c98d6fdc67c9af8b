import { execFile } from 'node:child_process';
import { join } from 'node:path';

const compiler = join(__dirname, '../../node_modules/typescript/bin/tsc');

/** What came of a program. */
export interface Compiled {
  /** Each line that tells of an error. */
  readonly errors: readonly string[];
  /** The paths of all files that it is made of, a line each. */
  readonly files: string;
}

/**
 * Compiles a program against what is published, with the libraries' own declarations checked too: `name` is that of
 * `tsconfig.NAME.json` in the package's `test-types`, and `testFolder` stands beside that.
 */
export function compile(testFolder: string, name: string): Promise<Compiled> {
  const project = join(testFolder, '../test-types', `tsconfig.${name}.json`);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiler, '-p', project, '--pretty', 'false', '--listFiles'],
      (failure, output, trouble) => {
        const errors = output.match(/^.*error TS.*$/gm) ?? [];
        // One that did not even start says so elsewhere.
        resolve({ errors: failure && errors.length === 0 ? [failure.message, trouble] : errors, files: output });
      },
    );
  });
}

/** The versions of a package among the files: two side by side are easily mistaken for each other. */
export function versionsOf(name: string, { files }: Compiled): string[] {
  const found = files.matchAll(new RegExp(`/${name.replace('/', String.raw`\+`)}@([\\d.]+)`, 'g'));
  return [...new Set(Array.from(found, ([, version]) => version as string))];
}
