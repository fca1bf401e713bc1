import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { ownFile } from '../operations/project-cache.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { HttpError } from './http-error.ts';
import { sendText } from './reply.ts';

/** The files of the dashboard, with their types. */
const FILES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'stream-worker.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};

/** Sends a file of the dashboard. Nothing of the project is in them: the page asks the API. A link with a code signs the browser in. */
export function sendAsset(res: ServerResponse, url: URL, sessions: BrowserSessions): void {
  const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
  const mediaType = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (mediaType === undefined)
    throw new HttpError(404, 'E_USAGE', `there is nothing at ${url.pathname}`, {
      hint: 'The dashboard is at /, the API below /api/v1/.',
    });
  const code = url.searchParams.get('code');
  const cookie = code === null ? undefined : sessions.redeem(code);
  if (cookie !== undefined) res.setHeader('Set-Cookie', cookie);
  res.setHeader('Cache-Control', 'no-cache');
  sendText(res, 200, mediaType, readFileSync(ownFile('dist', 'lib', 'web', name)));
}
