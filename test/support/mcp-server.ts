import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Running, TestProject } from './project.ts';

export const TOKEN = 'a-token-for-tests-only';

/** `acor mcp --http` over a project, up to the end of the test. */
export async function startHttp(
  project: TestProject,
  flags: readonly string[] = [],
): Promise<{ running: Running; port: number; url: string }> {
  const running = project.start(['mcp', '--http', '--port', '0', ...flags], {
    env: { ACOR_MCP_TOKEN: TOKEN },
  });
  const line = await new Promise<string>((resolve, reject) => {
    running.child.stdout!.once('data', resolve);
    void running.finished.then(({ stderr }) => reject(new Error(`it did not serve: ${stderr}`)));
  });
  const { url } = JSON.parse(line);
  return { running, url, port: Number(new URL(url).port) };
}

/** Passes requests on as they are, with the token beside them, for clients that cannot show one. `onRequest` sees each body. */
export async function startProxy(
  port: number,
  onRequest: (body: string) => void = () => {},
): Promise<{ url: string; server: Server }> {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => onRequest(Buffer.concat(chunks).toString()));
    const headers = { ...req.headers, authorization: `Bearer ${TOKEN}` };
    const passed = request(
      { host: '127.0.0.1', port, method: req.method, path: req.url, headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.on('error', () => res.destroy());
        answer.pipe(res);
      },
    );
    passed.on('error', () => res.destroy());
    res.on('close', () => passed.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server };
}
