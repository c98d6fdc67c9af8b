import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unable } from '../exit.ts';

/** Loads a module of the project that the command is run in, so that it is the app's own version. */
export async function load<Module>(name: string, install: string): Promise<Module> {
  const fromProject = createRequire(join(process.cwd(), 'package.json'));
  let path: string;
  try {
    path = fromProject.resolve(name);
  } catch (cause) {
    throw unable(
      `${name} is not installed in ${process.cwd()}. Run this in your project, after: npm install ${install}`,
      cause,
    );
  }
  const loaded = (await import(pathToFileURL(path).href)) as Module & { default?: Module };
  // Of a CommonJS module, not every name is seen from here.
  return { ...loaded.default, ...loaded };
}

/** The first of several modules that is installed. */
export async function loadFirst<Module>(names: readonly string[], install: string): Promise<Module> {
  const fromProject = createRequire(join(process.cwd(), 'package.json'));
  const found = names.find((name) => {
    try {
      fromProject.resolve(name);
      return true;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return load<Module>(found, install);
  throw unable(
    `None of ${names.join(', ')} is installed in ${process.cwd()}. Run this in your project, after: npm install ${install}`,
  );
}
