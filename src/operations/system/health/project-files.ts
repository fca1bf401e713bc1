import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { OperationContext } from '../../../compose/operation.ts';
import type { Checker, ValidateOptions } from '../../../core/authoring/validation/checker.ts';
import { errorCodes } from '../../../core/authoring/validation/checkers/project-files.ts';
import { selftests } from '../../../core/authoring/validation/checkers/selftests.ts';
import { versions } from '../../../core/authoring/validation/checkers/versions.ts';
import { openSubject } from '../../../core/authoring/validation/subject.ts';
import { pluginsOf } from '../../../core/project/open-tools.ts';
import type { AcorApp } from '../../acor-app.ts';
import { fixText } from '../../command-forms.ts';

/** Checks the files that tools share, and that all fits this version of ACOR; `deep` also runs the self-tests of the tools. */
export async function checkProjectFiles(
  ctx: OperationContext<AcorApp>,
  deep: boolean,
): Promise<HealthCheck[]> {
  const subject = await openSubject([], { cwd: ctx.cwd, env: ctx.env, pluginsOf });
  const options = {
    versions: true,
    selftest: deep,
    services: () => ctx.app.services(),
    onInterrupt: (listener: (signal: string, count: number) => void) => ctx.interrupts.listen(listener),
  } satisfies ValidateOptions;
  const checks: HealthCheck[] = [];
  const add = async (name: string, checker: Checker) => {
    // Incompatible tools are among the tools.
    const findings = (await checker.check(subject, options)).filter(
      ({ file }) => !file.endsWith('tool.yaml') || deep,
    );
    if (findings.length === 0) checks.push({ name, status: 'ok', detail: 'no problem found' });
    for (const finding of findings)
      checks.push({
        name,
        status: 'degraded',
        detail: `${finding.file}: ${finding.message}`,
        fix: fixText(finding, ctx.app.commandOf),
      });
  };
  await add('versions', versions);
  await add('error_codes', errorCodes);
  if (deep) await add('selftests', selftests);
  return checks;
}
