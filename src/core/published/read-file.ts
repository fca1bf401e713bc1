import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorMessage } from '../../util/error-code.ts';
import { mediaTypeOf } from '../../util/media-type.ts';
import { OpenFolder } from '../../util/open-folder.ts';

/** A file for a client: as text, or as base64. */
export interface FileContent {
  mimeType: string;
  text?: string;
  blob?: string;
}

/** The content of a real path. No link is followed, because a tool may have replaced a part of the path since. Throws E_INPUT_NOT_FOUND and E_USAGE. */
export function readFileContent(path: string, { maxBytes, mimeType }: ReadOptions): FileContent {
  const bytes = bytesOf(path, maxBytes);
  const type = mimeType ?? mediaTypeOf(path);
  const text = isMedia(type) ? undefined : textOf(bytes);
  if (text === undefined) return { mimeType: type, blob: bytes.toString('base64') };
  return { mimeType: type === 'application/octet-stream' ? 'text/plain' : type, text };
}

interface ReadOptions {
  maxBytes: number;
  /** Instead of the type that the name stands for. */
  mimeType?: string | undefined;
}

function bytesOf(path: string, maxBytes: number): Buffer {
  const fd = opened(path);
  try {
    const { size } = fstatSync(fd);
    if (size > maxBytes) {
      throw new AcorError('E_USAGE', `${path} has ${size} bytes; at most ${maxBytes} are published`, {
        hint: 'Publish a smaller file, or a tool that returns a part of it.',
      });
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function opened(path: string): number {
  try {
    using folder = OpenFolder.real(dirname(path));
    return folder.openFile(basename(path));
  } catch (error) {
    throw new AcorError('E_INPUT_NOT_FOUND', `${path} cannot be read: ${errorMessage(error)}`, {
      hint: 'Only regular files that no link leads to are published.',
    });
  }
}

function isMedia(type: string): boolean {
  return /^(?:audio|image|video)\//.test(type) && type !== 'image/svg+xml';
}

/** UTF-8 text; undefined for anything else. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
