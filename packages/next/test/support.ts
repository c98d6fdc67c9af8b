import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const packages = join(__dirname, '../..');

/** A Next project in a folder of its own, with the packages installed as they are published. */
export interface Project {
  readonly folder: string;
  /** Runs `next build`; gives its output. */
  build(env?: Record<string, string>): Promise<string>;
  /** Runs `next start` on a free port. */
  start(env?: Record<string, string>): Promise<{ url: string; output(): string; close(): Promise<void> }>;
  remove(): Promise<void>;
}

/** Copies a fixture out of the repository, whose tsconfig would lead Next to the sources of the packages. */
export async function makeProject(fixture: 'app' | 'edge' | 'pages'): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), `factuarea-next-${fixture}-`));
  await cp(join(__dirname, 'fixtures', fixture), folder, { recursive: true });
  await installInto(join(folder, 'node_modules'));
  const bin = join(folder, 'node_modules/next/dist/bin/next');
  const run = (args: string[], env: Record<string, string>): ChildProcess & { text: string } => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
    });
    const told = Object.assign(child, { text: '' });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (told.text += chunk));
    return told;
  };
  return {
    folder,
    async build(env = {}) {
      const child = run(['build'], env);
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`next build ended with ${code}:\n${child.text}`);
      return child.text;
    },
    async start(env = {}) {
      const child = run(['start', '-p', '0', '-H', '127.0.0.1'], env);
      const ended = once(child, 'close');
      const url = await new Promise<string>((resolve, reject) => {
        child.stdout?.on('data', () => {
          const found = /Ready in/.test(child.text) && /http:\/\/127\.0\.0\.1:\d+/.exec(child.text);
          if (found) resolve(found[0]);
        });
        ended.then(() => reject(new Error(`next start ended:\n${child.text}`)), reject);
      });
      return {
        url,
        output: () => child.text,
        async close() {
          // Not asked to end: it would wait for connections that a case has left half-sent.
          child.kill('SIGKILL');
          await ended;
        },
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function installInto(folder: string): Promise<void> {
  for (const name of ['core', 'node', 'next', 'testing']) {
    const target = join(folder, '@factuarea-webhook', name);
    await cp(join(packages, name, 'package.json'), join(target, 'package.json'));
    await cp(join(packages, name, 'dist'), join(target, 'dist'), { recursive: true }).catch((cause) => {
      throw new Error('The packages are not built. Run `npm run build`.', { cause });
    });
  }
  for (const name of ['next', 'react', 'react-dom']) {
    await symlink(dirname(require.resolve(`${name}/package.json`)), join(folder, name));
  }
  await symlink(await realpath(join(packages, 'node/node_modules/raw-body')), join(folder, 'raw-body'));
  const app = join(folder, 'fixture-app');
  await mkdir(app);
  await cp(join(__dirname, 'fixtures/shared.js'), join(app, 'index.js'));
  await writeFile(join(app, 'package.json'), '{ "name": "fixture-app", "type": "module", "exports": "./index.js" }');
}

/** Builds a fixture and starts it, as a subject of the adapter contract. */
export async function startContract(
  fixture: 'app' | 'edge' | 'pages',
  config: object,
): Promise<{ url: string; close(): Promise<void> }> {
  const project = await makeProject(fixture);
  const env = { CONTRACT_CONFIG: JSON.stringify(config) };
  await project.build(env);
  const server = await project.start(env);
  return {
    url: server.url,
    async close() {
      await server.close();
      await project.remove();
    },
  };
}
