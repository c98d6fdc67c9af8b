import type { Form, Probe } from '../contract-probe.ts';

/** One thing that every adapter must do. */
export interface Case {
  /** Never changes its meaning: reports and exceptions name it. */
  readonly id: string;
  readonly title: string;
  /** Default: both. */
  readonly forms?: readonly Form[];
  run(probe: Probe): Promise<void>;
}
