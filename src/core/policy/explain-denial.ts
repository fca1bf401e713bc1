/** Something that the sandbox denied to a tool. Paths are absolute. */
export type Denial =
  | { kind: 'read' | 'write'; path: string; isFolder?: boolean }
  | { kind: 'host'; host: string; port: number }
  | { kind: 'command'; command: string };

/** The line of a file that would allow it (`tool.yaml`, the header of a script, the configuration), or the flag of a call. */
export interface Remedy {
  file: string;
  /** The list that the line goes into, such as `permissions.network.egress_allow`, or a flag: `--net`. */
  path: string;
  /** The line itself, a list entry in YAML. */
  line: string;
}

/** The text of a denial, the same for every part that denies. */
export function remedySentence({ file, path, line }: Remedy): string {
  if (path.startsWith('--')) return `Pass the flag ${path} ${line}`;
  return `In ${file}, under ${path}, write: ${line}`;
}

/**
 * Finds the line of `tool.yaml` that would have allowed what was denied. A path in the project is written relative to
 * it, so that the line works on every machine.
 */
export function explainDenial(denial: Denial, project?: string): Remedy {
  switch (denial.kind) {
    case 'read':
    case 'write':
      return remedy(`permissions.filesystem.${denial.kind}`, pathEntry(denial, project));
    case 'host': {
      const host = denial.host.includes(':') ? `[${denial.host}]` : denial.host;
      return remedy('permissions.network.egress_allow', `${host}:${denial.port}`);
    }
    case 'command':
      return remedy('permissions.commands', denial.command.slice(denial.command.lastIndexOf('/') + 1));
  }
}

/** The rule that would have allowed a request. */
export function requestRemedy(host: string, method: string, path: string): Remedy {
  const rule = `host: ${JSON.stringify(host)}, methods: [${JSON.stringify(method)}], paths: [${JSON.stringify(path)}]`;
  return { file: 'tool.yaml', path: 'permissions.network.egress_allow', line: `- { ${rule} }` };
}

/** The line that makes an input an output, or that declares such an input when the manifest has none for the path. */
export function outputRemedy(input?: string): Remedy {
  return input === undefined
    ? {
        file: 'tool.yaml',
        path: 'inputs',
        line: '- { name: output, type: path, access: write }, and let the tool write to the path that it gets',
      }
    : { file: 'tool.yaml', path: `inputs.${input}`, line: 'access: write' };
}

/** A list entry in YAML, quoted where YAML would read it differently. */
export function listEntry(value: string): string {
  return `- ${yamlText(value)}`;
}

/** A text as YAML, in quotes where it would be something else without them. */
export function yamlText(value: string): string {
  const isPlain =
    /^[A-Za-z/][\w./:@-]*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off)$/i.test(value) &&
    !value.endsWith(':');
  return isPlain ? value : JSON.stringify(value);
}

function remedy(path: string, entry: string): Remedy {
  return { file: 'tool.yaml', path, line: listEntry(entry) };
}

function pathEntry(
  { kind, path, isFolder }: { kind: 'read' | 'write'; path: string; isFolder?: boolean },
  project: string | undefined,
): string {
  // To create or replace a file, a tool needs write access to its folder.
  const target = kind === 'write' && !isFolder ? path.slice(0, path.lastIndexOf('/')) || '/' : path;
  const inProject = project !== undefined && (target === project || target.startsWith(`${project}/`));
  const named = inProject ? `\${PROJECT}${target.slice(project.length)}` : target;
  return kind === 'write' || isFolder ? `${named === '/' ? '' : named}/**` : named;
}
