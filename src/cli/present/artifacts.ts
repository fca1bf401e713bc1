import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { sizeWords } from '../../compose/time-words.ts';
import type { runArtifacts } from '../../operations/run/run-artifacts.ts';
import { tableOf } from './views.ts';

export const artifactsPresenter = {
  data({ artifacts }: DataOf<typeof runArtifacts>, screen) {
    const rows = artifacts.map(({ path, size, media_type, sha256 }) => ({
      path,
      size: sizeWords(size),
      type: media_type,
      sha256: sha256.slice(0, 12),
    }));
    const none =
      'The run made no artifacts: its tool put nothing into ARTIFACTS_DIR and named none in its result.';
    return tableOf(rows, screen, ['path', 'sha256'], none);
  },
} satisfies Presenter;
