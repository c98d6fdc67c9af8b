import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Stands between a client and its server and counts round trips: how often the client speaks after the server has. The
 * address it gives is the server's, with the port exchanged.
 */
export async function countingProxy(address) {
  const target = new URL(address);
  const sockets = new Set();
  let trips = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    let isOurTurn = true;
    client.on('data', (bytes) => {
      if (isOurTurn) trips++;
      isOurTurn = false;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      isOurTurn = true;
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(address);
  url.port = proxy.address().port;
  return {
    url: url.href,
    /** Round trips of each piece of work, done one after the other `times` times. */
    async count(work, times = 20) {
      const before = trips;
      for (let i = 0; i < times; i++) await work(i);
      return (trips - before) / times;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
