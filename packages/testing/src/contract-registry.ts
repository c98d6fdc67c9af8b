import type { ContractApp } from './contract-app.ts';

/** The apps of this process, by their run, and what nobody has caught. */
export type Registry = Map<string, ContractApp> & { unhandled: string[] };

/** Kept on the global object, since bundlers may load a module more than once. */
export function registry(): Registry {
  const key = Symbol.for('@factuarea-webhook/testing/contract-app');
  const holder = globalThis as { [key]?: Registry };
  holder[key] ??= Object.assign(new Map<string, ContractApp>(), { unhandled: watchUnhandled() });
  return holder[key];
}

function watchUnhandled(): string[] {
  const unhandled: string[] = [];
  const note = (error: unknown): void => {
    unhandled.push(String((error as { stack?: unknown } | undefined)?.stack ?? error));
  };
  const { process, addEventListener } = globalThis as {
    process?: { on?(event: string, listener: (error: unknown) => void): unknown };
    addEventListener?(event: string, listener: (event: { reason?: unknown; preventDefault(): void }) => void): void;
  };
  // Next's Edge runtime has a `process.on` that throws when it is called.
  if (process?.on && !('EdgeRuntime' in globalThis)) {
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
  } else {
    addEventListener?.('unhandledrejection', (event) => {
      event.preventDefault();
      note(event.reason);
    });
  }
  return unhandled;
}
