import { servePlugin } from './serve.ts';

await servePlugin();
