import { judge } from './support.ts';

const noContinue = 'workerd sends no “100 Continue”, so the body never comes and the answer is 503 at the deadline';
const except = {
  'handler/expect-continue': noContinue,
  'middleware/expect-continue': noContinue,
};

for (const maker of ['fetch', 'hono'] as const) judge(maker, 'workerd', process.execPath, ['serve-worker.mjs'], except);
