const OUTPUTS = ['test/e2e/outputs.test.ts', 'test/e2e/replaced-paths.test.ts'];
const LINES = ['test/e2e/long-answers.test.ts', 'test/e2e/many-lines.test.ts'];
const ANSWERS = ['test/e2e/one-call.test.ts', 'test/e2e/small-answers.test.ts'];
const WATCHED = ['test/e2e/unresponsive-supervisor.test.ts', 'test/e2e/commands.test.ts'];

/** For faults below `folder`, the tests further away that promise what that area does. A file gets those of every row that it matches. */
export const AREAS: readonly { folder: string; tests: readonly string[] }[] = [
  { folder: 'src/core/audit/', tests: ['test/e2e/verify.test.ts'] },
  { folder: 'src/core/guard/', tests: ['test/e2e/policy.test.ts'] },
  { folder: 'src/core/policy/', tests: ['test/e2e/policy.test.ts'] },
  { folder: 'src/core/process/', tests: ['test/library/library.test.ts', 'test/e2e/runner.test.ts'] },
  {
    folder: 'src/core/run/answers/',
    tests: ['test/e2e/questions.test.ts', 'test/e2e/questions-more.test.ts'],
  },
  { folder: 'src/core/run/attempt/', tests: ['test/e2e/hard-times.test.ts'] },
  { folder: 'src/core/run/attempt/outputs.ts', tests: OUTPUTS },
  { folder: 'src/core/run/attempt/output-place.ts', tests: OUTPUTS },
  { folder: 'src/core/run/attempt/final-paths.ts', tests: OUTPUTS },
  { folder: 'src/core/run/attempt/collect-artifacts.ts', tests: OUTPUTS },
  { folder: 'src/core/run/attempt/attempt.ts', tests: ['test/e2e/pipes.test.ts'] },
  { folder: 'src/core/run/attempt/tool-calls.ts', tests: ['test/e2e/nested-runs.test.ts'] },
  { folder: 'src/core/run/attempt/tool-output.ts', tests: LINES },
  { folder: 'src/core/run/attempt/intake.ts', tests: LINES },
  {
    folder: 'src/core/run/attempt/tool-executor.ts',
    tests: ['test/e2e/retries.test.ts', 'test/e2e/output-schema.test.ts', ...LINES],
  },
  {
    folder: 'src/core/run/attempt/permission-questions.ts',
    tests: ['test/e2e/ask-before-start.test.ts', 'test/e2e/ask-for-hosts.test.ts'],
  },
  {
    folder: 'src/core/run/attempt/guards/',
    tests: ['test/e2e/limits.test.ts', 'test/e2e/budgets.test.ts'],
  },
  {
    folder: 'src/core/run/attempt/resources/',
    tests: ['test/e2e/limits.test.ts', 'test/e2e/budgets.test.ts'],
  },
  { folder: 'src/core/run/attempt/run-user-ownership.ts', tests: ['test/e2e/run-users.test.ts'] },
  { folder: 'src/core/run/attempt/ownership-record.ts', tests: ['test/e2e/run-users.test.ts'] },
  { folder: 'src/core/run/explain-failure.ts', tests: ['test/e2e/denials.test.ts'] },
  { folder: 'src/core/run/explain-missing-file.ts', tests: ['test/e2e/denials.test.ts'] },
  { folder: 'src/core/run/exception-line.ts', tests: ['test/e2e/small-answers.test.ts'] },
  { folder: 'src/core/run/summarise-run.ts', tests: ANSWERS },
  { folder: 'src/core/run/steps-after.ts', tests: ANSWERS },
  { folder: 'src/core/run/repeatable.ts', tests: ANSWERS },
  { folder: 'src/core/run/run-slot.ts', tests: ['test/e2e/budgets.test.ts'] },
  { folder: 'src/core/run/start-run.ts', tests: ['test/e2e/exec.test.ts'] },
  { folder: 'src/core/run/retry.ts', tests: ['test/e2e/retries.test.ts'] },
  { folder: 'src/core/run/recover-lost-run.ts', tests: ['test/e2e/leases.test.ts'] },
  { folder: 'src/core/run/cancel-run.ts', tests: WATCHED },
  { folder: 'src/core/run/end-children.ts', tests: ['test/e2e/workflow-kills.test.ts'] },
  { folder: 'src/core/run/supervisor-watch.ts', tests: WATCHED },
  { folder: 'src/core/run/plan/', tests: ['test/e2e/plans.test.ts', 'test/e2e/bad-input.test.ts'] },
  { folder: 'src/core/run/plan/calling-tools.ts', tests: ['test/e2e/nested-runs.test.ts'] },
  {
    folder: 'src/core/run/plan/confine-tool.ts',
    tests: ['test/e2e/languages.test.ts', 'test/e2e/learn.test.ts'],
  },
  { folder: 'src/core/run/plan/environment.ts', tests: ['test/e2e/surroundings.test.ts'] },
  { folder: 'src/core/run/plan/keep-grants.ts', tests: ['test/e2e/kept-writes.test.ts'] },
  { folder: 'src/core/run/plan/limit', tests: ['test/e2e/limits.test.ts', 'test/e2e/budgets.test.ts'] },
  { folder: 'src/core/run/plan/plan-network.ts', tests: ['test/e2e/network.test.ts'] },
  { folder: 'src/core/run/plan/resolve-call.ts', tests: ['test/e2e/exec.test.ts'] },
  { folder: 'src/core/run/records/', tests: ['test/e2e/pipes.test.ts'] },
  { folder: 'src/core/run/secrets/', tests: ['test/e2e/secrets.test.ts'] },
  { folder: 'src/core/run/secrets/run-injector.ts', tests: ['test/e2e/injection.test.ts'] },
  {
    folder: 'src/core/run/',
    tests: [
      'test/in-process/tool-runs.test.ts',
      'test/in-process/memory-store.test.ts',
      'test/in-process/ending.test.ts',
      'test/e2e/again.test.ts',
      'test/e2e/runner.test.ts',
      'test/library/library.test.ts',
      'test/e2e/faults.test.ts',
    ],
  },
  { folder: 'src/core/sandbox/egress/', tests: ['test/e2e/network.test.ts'] },
  { folder: 'src/core/sandbox/', tests: ['test/e2e/weaker-sandbox.test.ts', 'test/attacks/attacks.test.ts'] },
  {
    folder: 'src/core/store-files/',
    tests: [
      'test/e2e/once.test.ts',
      'test/e2e/clean.test.ts',
      'test/e2e/verify.test.ts',
      'test/e2e/leases.test.ts',
      'test/e2e/packs.test.ts',
      'test/e2e/faults.test.ts',
    ],
  },
  { folder: 'src/core/workflow/parent-plan.ts', tests: ['test/in-process/pipes.test.ts'] },
  {
    folder: 'src/core/workflow/pipe/',
    tests: [
      'test/in-process/pipes.test.ts',
      'test/in-process/workflow-children.test.ts',
      'test/e2e/pipes.test.ts',
    ],
  },
  {
    folder: 'src/core/workflow/',
    tests: [
      'test/in-process/workflow-steps.test.ts',
      'test/in-process/workflow-children.test.ts',
      'test/in-process/workflow-resumed.test.ts',
      'test/e2e/workflows.test.ts',
      'test/e2e/workflow-files.test.ts',
      'test/e2e/workflow-questions.test.ts',
    ],
  },
  {
    folder: 'src/core/workflow/engine/',
    tests: ['test/e2e/workflow-kills.test.ts'],
  },
];
