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
  { folder: 'src/core/run/plan/', tests: ['test/e2e/plans.test.ts', 'test/e2e/bad-input.test.ts'] },
  { folder: 'src/core/run/records/', tests: ['test/e2e/pipes.test.ts'] },
  { folder: 'src/core/run/secrets/', tests: ['test/e2e/secrets.test.ts'] },
  {
    folder: 'src/core/run/',
    tests: [
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
  { folder: 'src/core/workflow/pipe/', tests: ['test/e2e/pipes.test.ts'] },
  {
    folder: 'src/core/workflow/',
    tests: [
      'test/e2e/workflows.test.ts',
      'test/e2e/workflow-files.test.ts',
      'test/e2e/workflow-questions.test.ts',
    ],
  },
  { folder: 'src/core/workflow/engine/', tests: ['test/e2e/workflow-kills.test.ts'] },
];
