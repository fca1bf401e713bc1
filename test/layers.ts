/** What the sources of a folder may import: other folders of `src`, packages, and the builtin modules of Node. */
export interface Layer {
  folder: string;
  /** Folders of `src`, or `*` for all of them. A folder includes its subfolders. */
  folders: readonly string[];
  /** npm packages by name; `@scope/*` for all of a scope. */
  packages: readonly string[];
  node: boolean;
  /** Folders of which only types may be imported, because the code of the layer must start without them. */
  typesOnly?: readonly string[];
  note: string;
}

/** What a run needs, from the bottom to the top. */
const RUN_CORE = [
  'core/ports',
  'core/config',
  'core/registry',
  'core/cost',
  'core/policy',
  'core/guard',
  'core/process',
  'core/sandbox',
  'core/secrets',
  'core/store-files',
  'core/store-memory',
  'core/index-sqlite',
  'core/audit',
  'core/review',
  'core/run',
  'core/adapters',
  'core/supervision',
];

const CORE = [
  ...RUN_CORE,
  'core/host',
  'core/workflow',
  'core/task',
  'core/plugins',
  'core/outbox',
  'core/project',
  'core/published',
  'core/authoring/scaffold',
  'core/authoring/agents',
  'core/authoring/migrations',
  'core/authoring/configuration',
  'core/authoring/validation',
  'core/authoring/adopt',
  'core/authoring/contract',
  'core/insights',
  'core/authoring/learn',
];

/** Which layer may import which (ARCHITECTURE.md), from the bottom to the top: a layer names only layers above it in this list. */
export const LAYERS: readonly Layer[] = [
  {
    folder: 'util',
    folders: [],
    packages: ['diff'],
    node: true,
    note: 'no domain words',
  },
  {
    folder: 'protocol',
    folders: [],
    packages: ['zod'],
    node: false,
    note: 'what things look like; the browser uses it, so no builtin modules',
  },
  {
    folder: 'tool',
    folders: [],
    typesOnly: ['protocol'],
    packages: [],
    node: true,
    note: 'runs inside another author’s program: it starts fast and has no dependency',
  },
  {
    folder: 'core/task/responses',
    folders: ['tool', 'protocol'],
    packages: [],
    node: true,
    note: 'the program of the executor of that name: it runs inside the sandbox, like any tool',
  },
  {
    folder: 'compose',
    folders: ['util'],
    packages: ['zod', '@toon-format/toon', 'fast-string-width', 'fast-wrap-ansi'],
    node: true,
    note: 'the kit for agent-native command lines; it knows nothing of ACOR',
  },
  {
    folder: 'client',
    folders: ['protocol'],
    packages: [],
    node: false,
    note: 'calls the HTTP API; a browser uses it, so no builtin modules',
  },
  {
    folder: 'core/ports',
    folders: ['protocol'],
    packages: [],
    node: true,
    note: 'the interfaces that the core works with, and no implementation of them',
  },
  {
    folder: 'core/config',
    folders: ['protocol', 'util'],
    packages: ['yaml', 'zod'],
    node: true,
    note: 'finds, reads and joins the configuration',
  },
  {
    folder: 'core/host',
    folders: ['util', 'core/config'],
    packages: [],
    node: true,
    note: 'where the processes of a host wait, and who may call them; a call loads nothing else',
  },
  {
    folder: 'core/registry',
    folders: ['protocol', 'util', 'core/config'],
    packages: ['yaml', 'zod', 'ajv'],
    node: true,
    note: 'tools, manifests and arguments; starts nothing',
  },
  {
    folder: 'core/cost',
    folders: ['protocol', 'core/registry'],
    packages: [],
    node: true,
    note: 'what tokens cost, what a run spends, and its limits',
  },
  {
    folder: 'core/policy',
    folders: ['protocol', 'core/ports'],
    packages: [],
    node: false,
    note: 'manifest and policy in, decision out; pure',
  },
  {
    folder: 'core/guard',
    folders: ['protocol', 'util', 'core/ports', 'core/config', 'core/registry', 'core/policy'],
    packages: [],
    node: true,
    note: 'policy files, their engines and approvals: what must agree before a run starts',
  },
  {
    folder: 'core/process',
    folders: ['util'],
    packages: [],
    node: true,
    note: 'one child process; it does not import runs',
  },
  {
    folder: 'core/sandbox',
    folders: ['protocol', 'util', 'core/policy', 'core/process'],
    packages: [],
    node: true,
    note: 'a folder each backend, behind one interface',
  },
  {
    folder: 'core/secrets',
    folders: ['protocol', 'util'],
    packages: [],
    node: true,
    note: 'the user’s store of secrets, and the redaction of everything that is emitted',
  },
  {
    folder: 'core/store-files',
    folders: ['protocol', 'util', 'core/ports'],
    packages: [],
    node: true,
    note: 'the only writer of the runs folder',
  },
  {
    folder: 'core/store-memory',
    folders: ['protocol', 'util', 'core/ports', 'core/store-files'],
    packages: [],
    node: true,
    note: 'the ports in this process; seals and the layout of workspaces are those of the files',
  },
  {
    folder: 'core/index-sqlite',
    folders: ['protocol', 'util', 'core/ports', 'core/store-memory'],
    packages: [],
    node: true,
    note: 'the index of the runs, derived from them',
  },
  {
    folder: 'core/audit',
    folders: ['protocol', 'util', 'core/ports', 'core/store-files'],
    packages: [],
    node: true,
    note: 'verifies seals, ledger and artifacts',
  },
  {
    folder: 'core/review',
    folders: ['protocol', 'util', 'core/config', 'core/sandbox', 'core/store-files'],
    packages: ['zod'],
    node: true,
    note: 'layers and snapshots of what a run writes; loaded for the runs that have one',
  },
  {
    folder: 'core/run',
    folders: ['protocol', 'util', ...RUN_CORE.slice(0, -3)],
    packages: [],
    node: true,
    note: 'the life of a run: a sequence and a race of guards',
  },
  {
    folder: 'core/adapters',
    folders: ['protocol', 'util', 'core/ports', 'core/registry', 'core/cost', 'core/store-files', 'core/run'],
    packages: [],
    node: true,
    note: 'what reads the output of tools that speak another language than the protocol',
  },
  {
    folder: 'core/supervision',
    folders: ['protocol', 'util', ...RUN_CORE.slice(0, -1)],
    packages: [],
    node: true,
    note: 'who supervises a run, and how other processes follow it',
  },
  {
    folder: 'core/published',
    folders: ['protocol', 'util', 'core/config', 'core/registry'],
    packages: [],
    node: true,
    note: 'the prompts and resources that a project offers besides its tools; starts nothing',
  },
  {
    folder: 'core/authoring/adopt',
    folders: ['protocol', 'util', 'core/config', 'core/registry', 'core/process', 'core/sandbox'],
    packages: ['yaml'],
    node: true,
    note: 'manifests from the help of programs; it asks them in a sandbox, and does not import runs',
  },
  {
    folder: 'core/authoring/contract',
    folders: ['protocol', 'util', 'core/registry', 'core/authoring/adopt'],
    packages: ['zod'],
    node: true,
    note: 'judges a command line by the contract of seed 004, with what adopt reads and runs',
  },
  {
    folder: 'core/authoring/learn',
    folders: ['protocol', 'util'],
    packages: ['yaml'],
    node: true,
    note: 'permissions from what a run was observed to do; pure but for the question whether a path exists',
  },
  {
    folder: 'core/workflow',
    folders: ['protocol', 'util', ...RUN_CORE],
    packages: ['yaml', 'zod', '@marcbachmann/cel-js'],
    node: true,
    note: 'runs made of runs',
  },
  {
    folder: 'core/task',
    folders: ['protocol', 'util', ...RUN_CORE],
    typesOnly: ['core/task/responses'],
    packages: [],
    node: true,
    note: 'tasks: an executor is a tool, and a conversation is its turns',
  },
  {
    folder: 'core/authoring/scaffold',
    folders: ['protocol', 'util', 'core/config', 'core/registry'],
    packages: [],
    node: true,
    note: 'the files of a new project or tool, and of one that is moved over',
  },
  {
    folder: 'core/authoring/agents',
    folders: ['protocol', 'util', 'core/config', 'core/registry', 'core/authoring/scaffold'],
    packages: ['jsonc-parser'],
    node: true,
    note: 'the files by which agents find ACOR, and the answers to their hooks; it does not import runs',
  },
  {
    folder: 'core/authoring/validation',
    folders: ['protocol', 'util', ...RUN_CORE, 'core/published', 'core/workflow'],
    packages: ['yaml', 'zod', 'ajv'],
    node: true,
    note: 'the problems of the files of a project, and safe fixes',
  },
  {
    folder: 'core/authoring/configuration',
    folders: ['protocol', 'util', 'core/config'],
    packages: ['yaml'],
    node: true,
    note: 'changes single keys of configuration files',
  },
  {
    folder: 'core/authoring/migrations',
    folders: ['protocol', 'util', 'core/config'],
    packages: ['yaml'],
    node: true,
    note: 'how files of an earlier version become those of this one',
  },
  {
    folder: 'core/insights',
    folders: [
      'protocol',
      'util',
      'core/ports',
      'core/config',
      'core/registry',
      'core/sandbox',
      'core/authoring/scaffold',
      'core/authoring/configuration',
    ],
    packages: [],
    node: true,
    note: 'what the recorded runs suggest to change',
  },
  {
    folder: 'core/plugins',
    folders: ['protocol', 'util', ...RUN_CORE],
    packages: [],
    node: true,
    note: 'modules of other authors that take part in discovery and runs, each in a process of its own',
  },
  {
    folder: 'core/outbox',
    folders: ['protocol', 'util', ...RUN_CORE],
    packages: [],
    node: true,
    note: 'delivers what runs have to say to receivers outside, in a process of its own',
  },
  {
    folder: 'core/project',
    folders: ['protocol', 'util', ...RUN_CORE, 'core/workflow', 'core/task', 'core/plugins', 'core/outbox'],
    packages: [],
    node: true,
    note: 'the one way to open a project, for every surface and the library',
  },
  {
    folder: 'operations',
    folders: ['protocol', 'util', 'compose', ...CORE],
    packages: ['zod'],
    node: true,
    note: 'what ACOR can do, one file each',
  },
  {
    folder: 'cli',
    folders: ['operations', 'compose', 'protocol', 'util'],
    packages: ['@clack/prompts'],
    node: true,
    note: 'parses and shows, nothing else; knows no other surface and no core',
  },
  {
    folder: 'host',
    folders: ['operations', 'compose', 'util', 'core/host'],
    packages: [],
    node: true,
    note: 'the command line of other processes, run by one that has everything loaded',
  },
  {
    folder: 'mcp',
    folders: ['operations', 'compose', 'protocol', 'util'],
    packages: ['@modelcontextprotocol/*', 'zod'],
    node: true,
    note: 'a surface like the command line',
  },
  {
    folder: 'ai-sdk',
    folders: ['protocol', 'util'],
    packages: ['ai'],
    node: true,
    note: 'the tools of a project, and a sandbox, for the Vercel AI SDK',
  },
  {
    folder: 'http',
    folders: ['operations', 'compose', 'protocol', 'util'],
    packages: ['zod'],
    node: true,
    note: 'a surface like the command line',
  },
];

/** Files that put the parts together: they may import everything. */
export const COMPOSITION_ROOTS: readonly string[] = [
  'index.ts',
  'library.ts',
  'agent-tools.ts',
  // They use the library as any program does.
  'ai-sdk/sandbox.ts',
  'ai-sdk/tools.ts',
  'cli/main.ts',
  'cli/run-command.ts',
];

/** The only file with imports whose name is computed at run time. */
export const LOADERS: readonly string[] = ['core/plugins/host/serve.ts'];

/** The only files that may use `bun:*` or the global `Bun`; each has a twin for Node, or replaces a builtin module of Node. */
export const BUN_FILES: readonly string[] = [
  'core/process/runtime-bun.ts',
  'core/index-sqlite/sqlite-bun.ts',
  'core/store-files/inflate-bun.ts',
  'util/sha256.ts',
  'util/unix-socket.ts',
];
