/** The content of one artifact: bytes, named by their digest. `path` is where the executing machine has the file; `size` is in bytes. */
export interface Blob {
  sha256: string;
  size: number;
  path: string;
}

/**
 * The port to the content of artifacts. The event log has what the runner measured of them; the content is here. Every implementation
 * passes `test/contracts/blob-store.ts`.
 */
export interface BlobStore {
  /** Keeps the content of a file that is in its final place. Throws E_STORAGE when the file is not what was measured. */
  keep(runId: string, blob: Blob): Promise<void>;
  /**
   * Reads bytes of what was kept, and nothing else: content with another digest is never returned. Throws E_INPUT_NOT_FOUND when it is
   * gone, and E_STORAGE when it was changed.
   */
  read(runId: string, blob: Blob, part: { from: number; bytes: number }): Promise<Buffer>;
}
