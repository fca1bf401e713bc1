import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcpServer, type Shared } from './mcp-server.ts';
import { LiveServers } from './tool-changes.ts';

/** Serves one client on standard input and output, until it has gone. Its runs have supervisors of their own and go on. */
export async function serveByStdio(shared: Shared): Promise<void> {
  const transport = new StdioServerTransport();
  const live = new LiveServers();
  const handle = serveStdio(async () => live.add(await mcpServer(shared, { cancelsByLeaving: false })), {
    transport,
    onerror: ({ message }) => process.stderr.write(`acor: ${message}\n`),
  });
  const stopWatching = live.watch(shared.host);
  await new Promise<void>((resolve) => {
    const onClose = transport.onclose;
    transport.onclose = () => {
      onClose?.();
      resolve();
    };
  });
  stopWatching();
  await handle.close();
}
