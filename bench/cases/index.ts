import type { Bench } from '../support/bench.ts';
import { adopt } from './adopt.ts';
import { burst } from './burst.ts';
import { cancel } from './cancel.ts';
import { checkpoint } from './checkpoint.ts';
import { clean } from './clean.ts';
import { curves } from './curves.ts';
import { discovery } from './discovery.ts';
import { isolation } from './isolation.ts';
import { limits } from './limits.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { message } from './message.ts';
import { redact } from './redact.ts';
import { sandbox } from './sandbox.ts';
import { scale } from './scale.ts';
import { serve } from './serve.ts';
import { stalls } from './stalls.ts';
import { startUp } from './start-up.ts';
import { supervisors } from './supervisors.ts';
import { throughput } from './throughput.ts';
import { warm } from './warm.ts';
import { workflow } from './workflow.ts';

/** The benchmarks, in the order in which they run. */
export const BENCHES: readonly Bench[] = [
  message,
  adopt,
  checkpoint,
  redact,
  discovery,
  startUp,
  burst,
  sandbox,
  isolation,
  warm,
  mcp,
  serve,
  memory,
  supervisors,
  limits,
  stalls,
  cancel,
  throughput,
  workflow,
  scale,
  clean,
  curves,
];
