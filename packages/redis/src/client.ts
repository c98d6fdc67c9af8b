/** What is called of an ioredis client, version 5 or 6. A `Redis` (single or Sentinel) and a `Cluster` both have it. */
export interface RedisClient {
  /** `ready` while commands can be written. In every other state ioredis would queue them. */
  readonly status: string;
  evalsha(sha: string, numberOfKeys: number, ...rest: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...rest: string[]): Promise<unknown>;
  get(key: string): Promise<string | null>;
  info(section: string): Promise<string>;
  connect(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  once(event: 'ready', listener: () => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
  /** A cluster's nodes. */
  nodes?(role: 'master'): RedisNode[];
  readonly isCluster?: boolean;
  readonly options?: { readonly keyPrefix?: string | undefined };
}

/** What is called of one server to look through its keys. */
export interface RedisNode {
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', size: string): Promise<[string, string[]]>;
}
