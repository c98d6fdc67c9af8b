const request = `the floor is a route that looks at nothing: \`node:http\` takes 25 µs of the processor for it, Fastify 26, Hono 30 to 45,
Express 130. Verifying, parsing and remembering an id by hand takes 10 µs more, which is why the figures against the
recipe are given as well. Ours takes 27 µs from the bytes to the answer, measured in the process: those 10, and 17 for the
claim, the limits that a handler runs under and the settling. The rest, some 15 µs, is the bridge: a body that may be cut,
too large, or read already, and an answer that must not be written twice. So what is missing is about 45 µs, the same
everywhere, which is much beside 25 and little beside 130.`;

const postgresGrowth = `the index of 10 million ids is deeper, and does not fit into the 128 MB that Postgres keeps in memory by preset: for
other pages it asks the system.`;

const redisGrowth = `10 million keys are 2.4 GB, of which the processor's caches hold little.`;

const sqliteGrowth = `an id is looked up in the index and then in the table, both a level deeper at 10 million than when empty, and SQLite keeps
2 MB of its pages by preset and asks the system for the others: 15 µs more.`;

const sqlitePruning = `SQLite has one write lock and no queue for it. A claim that meets a batch asks again after 1, 2 and 2 ms, then after some
more, and with four processes at it more than one claim in a hundred meets one. Batches of 100 ids instead of 500, commits
that do not wait for the disk, and shorter steps made no difference that could be told from the disk's own.`;

/** What a figure that misses its goal is made of. Shown on the page while it does. */
export const notes = {
  'verify-2kb-vs-floor': `the rest is the promise that \`verifySignature\` gives, since some platforms can only hash asynchronously,
and reading a header in any order, with any number of signatures in it.`,
  'request-node-vs-bare': request,
  'request-express-vs-bare': request,
  'request-fastify-vs-bare': request,
  'request-hono-vs-bare': request,
  'postgres-new-vs-recipe': `ours takes a round trip less, but its one claim is dearer to Postgres (152 µs of the processor against 137 for the whole
event): it tries the id's lock, so that a copy of an event under way is told so at once instead of waiting with a
connection of the pool, and it sets the limits of time without which a stopped app would keep its transaction open.`,
  'postgres-new-p99-vs-recipe': `ours lends claims four fifths of the pool, so that a handler finds a second connection free; of 20 requests
at once some wait for that.`,
  'repeats-vs-recipe': `no receiver on Express gets there: the bare route, which does nothing, is not five times as fast as the recipe on this
machine (\`repeats-bare-vs-recipe\`), and ours comes close to it. A repeat that is known asks Postgres nothing.`,
  'repeats-node-vs-recipe': `the bare route is the ceiling here too (\`repeats-node-bare-vs-recipe\`). Between it and ours stand the signature, the
JSON and the bridge, as in the whole requests above.`,
  'repeats-uncached-vs-recipe': `one round trip against three. What is left is what both pay: HTTP, the signature, the JSON.`,
  'repeats-node-uncached-vs-recipe': `one round trip against three. What is left is what both pay: HTTP, the signature, the JSON.`,
  'pruning-sqlite-p99': sqlitePruning,
  'pruning-sqlite-transaction-p99': sqlitePruning,
  'growth-postgres-repeat-10m-vs-empty': postgresGrowth,
  'growth-postgres-recent-10m-vs-empty': postgresGrowth,
  'growth-redis-repeat-10m-vs-empty': redisGrowth,
  'growth-redis-recent-10m-vs-empty': redisGrowth,
  'growth-sqlite-repeat-10m-vs-empty': sqliteGrowth,
  'growth-sqlite-recent-10m-vs-empty': sqliteGrowth,
};
