import * as z from 'zod';
import { migrateConfig } from '../../core/authoring/migrations/migrate-config.ts';
import { updateVersionFile } from '../../core/authoring/migrations/update-version-file.ts';
import { renewFiles } from '../../core/authoring/validation/fixes/fix-files.ts';
import { openSubject } from '../../core/authoring/validation/subject.ts';
import { findProject } from '../../core/config/find.ts';
import { UPGRADE, UPGRADE_CONFIG, VALIDATE } from '../../protocol/next-steps.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import { acorOperation } from '../define.ts';
import { selfUpdate } from '../system/self-update.ts';

const change = z.object({
  file: z.string(),
  steps: z.array(z.string()).describe('The changes, made or (with --dry-run) planned.'),
  diff: z.string().describe('Unified.'),
  backup: z.string().nullable().describe('The copy of the file from before the change.'),
});

const output = z.object({
  root: z.string().nullable().describe("The project's folder; null with --self, which looks at none."),
  changes: z.array(change),
  config_version: z
    .object({ from: z.int(), to: z.int() })
    .nullable()
    .describe('Null when the project has no configuration file, and with --self.'),
  dry_run: z.boolean(),
  acor: z.object({ version: z.string(), update_with: z.string() }),
});

export const projectUpgrade = acorOperation({
  name: 'project.upgrade',
  summary: 'Bring the files of the project up to date with this ACOR. ACOR itself is not changed.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    config: z
      .boolean()
      .default(false)
      .describe('Only .acor/config.yaml; else also version.json and outdated keys of manifests.'),
    self: z
      .boolean()
      .default(false)
      .describe('Only the command that updates ACOR itself; nothing is changed.'),
    dry_run: z.boolean().default(false).describe('Show what would change, and change nothing.'),
  }),
  output,
  list: 'changes',
  example: 'acor upgrade --dry-run',
  moreExamples: ['acor upgrade --config', 'acor upgrade --self'],
  async run(input, ctx) {
    const dryRun = input.dry_run;
    const acor = { version: ACOR_VERSION, update_with: selfUpdate() };
    if (input.self)
      return { kind: 'data', data: { root: null, changes: [], config_version: null, dry_run: dryRun, acor } };
    const { root, file } = findProject(ctx.cwd);
    const changes: z.output<typeof change>[] = [];
    const migrated = file === null ? null : await migrateConfig(file, { root, dryRun, env: ctx.env });
    if (file !== null && migrated !== null && migrated.diff !== '') {
      const { steps, diff, backup } = migrated;
      changes.push({ file, steps, diff, backup });
    }
    const subject = await openSubject([], { cwd: ctx.cwd, env: ctx.env });
    const wanted = input.config ? { ...subject, tools: [] } : subject;
    for (const { file: renewed, diff } of await renewFiles(wanted, { dryRun })) {
      const steps = ['Outdated keys are renamed to the current ones.'];
      changes.push({ file: renewed, steps, diff, backup: null });
    }
    const version = input.config ? null : await updateVersionFile(root, { dryRun });
    if (version !== null && version.diff !== '') {
      const steps = ['The versions of the schemas are set to those of this ACOR.'];
      changes.push({ ...version, steps, backup: null });
    }
    return {
      kind: 'data',
      data: {
        root,
        changes,
        config_version: migrated === null ? null : { from: migrated.from, to: migrated.to },
        dry_run: dryRun,
        acor,
      },
      next: changes.length > 0 ? [dryRun ? (input.config ? UPGRADE_CONFIG : UPGRADE) : VALIDATE] : [],
    };
  },
});
