import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@factuarea-webhook/core';
import { afterAll, describe, test } from '@jest/globals';
import { transformSync } from '@swc/core';
import { storeContract } from '../src/store-contract.ts';

// What `docs/write-a-store.md` shows is taken from there, so that it cannot drift from what passes.
const page = readFileSync(join(__dirname, '../../../docs/write-a-store.md'), 'utf8');
const [, source = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? [];

interface Kv {
  get(key: string): Promise<unknown>;
  swap(key: string, from: unknown, to: unknown): Promise<boolean>;
}

const folder = mkdtempSync(join(tmpdir(), 'write-a-store-'));
const file = join(folder, 'kv-store.cjs');
writeFileSync(file, transformSync(source, { module: { type: 'commonjs' } }).code);
const { kvStore } = require(file) as { kvStore(kv: Kv): Store };

afterAll(() => rmSync(folder, { recursive: true }));

function openKv(): Kv {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    async swap(key, from, to) {
      if (entries.get(key) !== from) return false;
      entries.set(key, to);
      return true;
    },
  };
}

storeContract(
  {
    name: 'the documentation’s own store',
    create() {
      const kv = openKv();
      return { store: kvStore(kv), second: kvStore(kv), close() {} };
    },
  },
  { describe, test },
);
