import { extname } from 'node:path';

/** Source files and settings: text without a media type of its own. */
const SOURCE_FILES =
  '.bash .c .cc .cjs .conf .cpp .cs .css .diff .go .graphql .h .hpp .ini .java .js .jsx .kt .lock .lua .mjs .patch .php .pl .proto .py .r .rb .rs .rst .scala .scss .sh .sql .svelte .swift .tex .toml .ts .tsv .tsx .vue .zsh';

const OWN_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** Made when it is first asked for: most commands load this file and ask for none. */
let mediaTypes: Readonly<Record<string, string>> | undefined;

/** The media type that the name of a file stands for. */
export function mediaTypeOf(path: string): string {
  mediaTypes ??= {
    ...OWN_TYPES,
    ...Object.fromEntries(SOURCE_FILES.split(' ').map((extension) => [extension, 'text/plain'])),
  };
  return mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream';
}
