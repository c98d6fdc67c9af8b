import type { ReceiverOptions, Store } from '@factuarea-webhook/core';

/** What a package gives so that its store can be put through the failures, in processes of their own. */
export interface Rig<Tx> {
  readonly store: Store<Tx>;
  /** The effect of one event: through `tx` where there is one. It must not be idempotent, so that repeats show. */
  effect(id: string, tx: Tx): Promise<void>;
}

/** A rig's module exports `open`, which is called in the child process. */
export interface RigModule<Tx> {
  open(settings: Readonly<Record<string, unknown>>): Promise<Rig<Tx>>;
}

/** Places in a delivery's way at which a process can be held, and killed or stopped there. */
export type Point = 'before-claim' | 'after-claim' | 'mid-handler' | 'after-effect' | 'after-mark' | 'before-response';

export interface ReceiverConfig {
  /** Absolute path of the rig's module. */
  readonly rig: string;
  /** Handed to the rig's `open`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** File that the handler's runs are written to. */
  readonly history: string;
  readonly secret: string;
  /** Where to hold, once. */
  readonly holdAt?: Point;
  /** Replaces the lease that the receiver asks for: a fast clock for leases. */
  readonly leaseMs?: number;
  /** How far the process's wall clock is off, in milliseconds: one step after the other, at each look at it. */
  readonly clockOffsetsMs?: readonly number[];
  readonly options?: Pick<ReceiverOptions, 'timeoutSeconds' | 'handlerLimitSeconds' | 'storeTimeoutSeconds' | 'cache'>;
}

/** What the handler does, told by the event's `data`. */
export interface Plan {
  /** Waits before the effect. */
  readonly waitMs?: number;
  /** Blocks the event loop before the effect. */
  readonly blockMs?: number;
  /** Throws after the effect, in this many runs per process. */
  readonly failTimes?: number;
  /** Never ends after the effect. */
  readonly never?: boolean;
}

/** From the child to its parent. */
export type Message =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'reached'; readonly point: Point; readonly id: string };
