const request = `bare does not look at what it reads: the figure against the recipe leaves out the signature and the JSON. The rest is
the claim and its settling, the limits that a handler runs under (an \`AbortSignal\` and two timers for each event), and reading
a body that may be cut, too large, or read already.`;

const growth = `a repeat is one look into an index, and the index of more ids is deeper and less of it in the cache.`;

/** What a figure that misses its goal is made of. Shown on the page while it does. */
export const notes = {
  'verify-2kb-vs-floor': `the rest is the promise that \`verifySignature\` gives, since some platforms can only hash asynchronously,
and reading a header in any order, with any number of signatures in it.`,
  'request-node-vs-bare': request,
  'request-express-vs-bare': request,
  'request-fastify-vs-bare': request,
  'request-hono-vs-bare': request,
  'postgres-new-vs-recipe': `ours takes a round trip less, but its claim is one longer statement, which looks for the id, tries its lock
and inserts, so that a copy of an event under way is told so at once instead of waiting with a connection of the pool.`,
  'postgres-new-p99-vs-recipe': `ours lends claims four fifths of the pool, so that a handler finds a second connection free; of 20 requests
at once some wait for that.`,
  'repeats-vs-recipe': `a repeat that is known costs no question to Postgres. What is left is what both pay: Express, HTTP, the signature,
the JSON. On few cores the sender of the load takes its share as well.`,
  'repeats-uncached-vs-recipe': `both ask Postgres; ours opens a transaction to do so, as it cannot know that the id is a repeat.`,
  'growth-postgres-repeat-10m-vs-empty': growth,
  'growth-redis-repeat-10m-vs-empty': growth,
  'growth-sqlite-repeat-10m-vs-empty': growth,
};
