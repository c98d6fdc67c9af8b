import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const bin = join(String(process.env['FACTUAREA_WEBHOOK_CLI']), 'node_modules/@factuarea-webhook/cli/dist/bin.mjs');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What `--json` printed. */
  json<Value>(): Value;
}

/** Starts the command, with no secret in its environment unless one is given. */
export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): ChildProcess {
  // NODE_PATH is what pnpm's own starters set: with it, everything in the workspace would be found everywhere.
  const { FACTUAREA_WEBHOOK_SECRET: _secret, FORCE_COLOR: _colour, NODE_PATH: _path, ...rest } = process.env;
  return spawn(process.execPath, [bin, ...args], { env: { ...rest, ...env }, stdio: 'pipe', ...(cwd && { cwd }) });
}

/** Runs the command to its end. */
export async function run(
  args: readonly string[],
  { env, stdin, cwd }: { env?: Readonly<Record<string, string>>; stdin?: string | Buffer; cwd?: string } = {},
): Promise<Ended> {
  const child = start(args, env, cwd);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin?.end(stdin ?? '');
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr, json: () => JSON.parse(stdout) };
}
