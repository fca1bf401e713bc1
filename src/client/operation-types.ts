// Written by scripts/write-operation-types.ts.

/** The input of each operation, and the data of its answer. */
export interface OperationTypes {
  /** Compare the files that agents read with what this version of ACOR would write; each with its fix. */
  'agents.check': {
    input: Record<string, never>;
    data: {
      root: string;
      /** The agents whose files the project has. */
      agents: Array<'claude' | 'codex' | 'gemini' | 'cursor' | 'vscode' | 'opencode'>;
      /** The program that agents start as `acor`; null when it is not on the PATH. */
      program: string | null;
      files: Array<{
        path: string;
        agents: Array<'claude' | 'codex' | 'gemini' | 'cursor' | 'vscode' | 'opencode'>;
        state: 'current' | 'missing' | 'stale' | 'changed' | 'foreign' | 'unreadable';
        detail: string;
        /** A command or an edit. */
        fix: string | null;
      }>;
    };
  };
  /** Write ACOR as a plugin for agents: one folder for Agent Plugins 1.0.0 and for Claude Code. */
  'agents.plugin': {
    input: {
      /** The folder of the plugin; it must be empty, or contain this plugin. */
      output: string;
      /** List what would be written, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      folder: string;
      dry_run: boolean;
      files: Array<{
        /** Relative to the project’s folder; absolute when it is outside. */
        path: string;
        action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
        why?: string | undefined;
        /** What a person must do by hand. */
        by_hand?: string | undefined;
        lines?: Array<{
          line: number;
          before: string;
          after: string;
        }> | undefined;
      }>;
    };
  };
  /** Take out what ACOR wrote for agents, and nothing else: its files, blocks, server and hooks. */
  'agents.remove': {
    input: {
      /** Show what would happen to each file, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      root: string;
      dry_run: boolean;
      files: Array<{
        /** Relative to the project’s folder; absolute when it is outside. */
        path: string;
        action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
        why?: string | undefined;
        /** What a person must do by hand. */
        by_hand?: string | undefined;
        lines?: Array<{
          line: number;
          before: string;
          after: string;
        }> | undefined;
      }>;
    };
  };
  /** Judge a command line by the contract for programs that agents use: run it in the sandbox, and read its source. */
  'compose.audit': {
    input: {
      /** A program on the PATH, the path of a program or of a source file, or a folder with one of them. */
      target: string;
      /** A further call whose answer is judged as data, such as "items list --limit 1". */
      call?: Array<string> | undefined;
      /** A command that may be called although its help says that it changes something. */
      allow?: Array<string> | undefined;
      /** How many levels of commands are read. */
      depth?: number | undefined;
      /** At most so many commands are read. */
      commands?: number | undefined;
      /** The saved JSON answer of an earlier audit: only findings that it does not have count. */
      baseline?: string | undefined;
      /** Fail when there is a finding of this severity or worse; with --baseline the default is low. */
      fail_on?: 'critical' | 'high' | 'medium' | 'low' | undefined;
      /** sarif: for a code host. */
      format?: 'json' | 'text' | 'sarif' | undefined;
      /** Ask only for help, and list the calls that the audit would make. */
      dry_run?: boolean | undefined;
    };
    data: {
      program: string;
      /** The sandbox in which the program ran; none when only sources were read. */
      isolation: string;
      /** The worst first. */
      findings: Array<{
        rule: string;
        severity: 'critical' | 'high' | 'medium' | 'low';
        message: string;
        /** The section of the contract. */
        section: string;
        /** The requirement as the contract has it. */
        source: string;
        /** What it costs an agent. */
        impact: string;
        /** The commands or flags that it is about. */
        commands: Array<string>;
        /** At most three. */
        evidence: Array<{
          /** The call, or the line of a source. */
          command: string;
          stream: 'stdout' | 'stderr' | 'exit' | 'help' | 'source';
          /** The bytes with which it begins, control characters as \x1b. */
          bytes: string;
        }>;
        fix: string;
        /** Whether the baseline does not have it. */
        is_new: boolean;
      }>;
      counts: {
        critical: number;
        high: number;
        medium: number;
        low: number;
      };
      score: {
        /** From 0 to 100: earned of all weights that could be judged. */
        value: number;
        earned: number;
        of: number;
        lines: Array<{
          rule: string;
          weight: number;
          /** Null when there was nothing to judge. */
          earned: number | null;
          why: string;
        }>;
      };
      surface_plan: Array<{
        change: 'add' | 'change' | 'split' | 'deprecate';
        command: string;
        what: string;
        /** Whether callers of today notice it. */
        breaks: boolean;
        rule: string;
      }>;
      /** In the order of the rollout. */
      compatibility_plan: Array<{
        phase: 'add' | 'split' | 'announce' | 'switch' | 'remove';
        what: string;
        commands: Array<string>;
        wrapper: string;
        window: string;
      }>;
      /** Tasks for an agent that prove the findings resolved. */
      validation: Array<{
        rule: string;
        task: string;
        /** POSIX sh; it exits with 0 once the program passes. */
        script: string;
        needs: Array<string>;
      }>;
      commands: Array<{
        command: string;
        effect: string;
        has_help: boolean;
      }>;
      /** How many further commands the help names. */
      unread: number;
      /** Every call of the program besides those for its help. */
      calls: Array<{
        purpose: string;
        args: Array<string>;
        rc: number | null;
        trouble: string | null;
      }>;
      dry_run: boolean;
    };
  };
  /** Call a migrated program: its tools are commands, and each answer is one envelope. */
  'compose.call': {
    input: {
      /** The program, which is the category of its tools. */
      program: string;
      /** The command and its flags: everything behind the program is for the wrapper. */
      args?: Array<string> | undefined;
    };
    data: {
      /** The exit code. */
      exit: number;
      /** What the command printed: an envelope, or a help text. */
      answer: string;
    };
  };
  /** Write a command line on the kit for one on commander, yargs or oclif, which keeps working. */
  'compose.codemod': {
    input: {
      /** The file that starts the command line, or the folder of its package. */
      source: string;
      /** The name of the command; by default that of the program. */
      name?: string | undefined;
      /** The folder for the modules; by default agent beside the program. */
      output?: string | undefined;
      /** The package of the kit that they import. */
      kit?: string | undefined;
      /** Overwrite modules that exist. */
      force?: boolean | undefined;
      /** Show what would be written. */
      dry_run?: boolean | undefined;
    };
    data: {
      library: 'commander' | 'yargs' | 'oclif';
      program: string;
      commands: Array<{
        command: string;
        operation: string;
        /** A guess from its words: review it. */
        effect: 'reads' | 'writes' | 'destroys';
        /** The words of the old command. */
        replaces: Array<string>;
      }>;
      files: Array<{
        path: string;
        text?: string | undefined;
      }>;
      dry_run: boolean;
    };
  };
  /** Migrate a program: write a tool for each call, a wrapper, tests and notices, and judge the result. */
  'compose.migrate': {
    input: {
      /** A program on the PATH, or a path. */
      program: string;
      /** A call that becomes a tool: what every call has, then -- and the arguments of the recorded one, such as "log --format=%H -- --max-count 3". */
      call?: Array<string> | undefined;
      /** A YAML file of such calls, with inputs, the form of the output, and error codes. */
      primitives?: string | undefined;
      /** The folder for the tools; by default the first of project.tools_dirs. */
      output?: string | undefined;
      /** The token of `compose plan`: nothing is written when it has changed. */
      plan?: string | undefined;
      /** Show what would be written, as `compose plan` does. */
      dry_run?: boolean | undefined;
    };
    data: {
      program: string;
      tools: Array<{
        name: string;
        /** Its words in the wrapper. */
        command: string;
        /** The arguments that every call has. */
        call: Array<string>;
        /** The words of the old command. */
        replaces: Array<string>;
        /** The declared form of its output. */
        output: string;
        inputs: number;
        /** The arguments of the recorded call. */
        recorded: Array<string>;
        /** What a person should check; the manifest has it as comments. */
        uncertain: Array<{
          input: string;
          check: string;
        }>;
      }>;
      files: Array<{
        path: string;
        text?: string | undefined;
      }>;
      score: {
        /** Of the program, from 0 to 100. */
        before: number;
        /** Of the wrapper; null until it is written. */
        after: number | null;
      };
      /** Findings of the program that the wrapper does not have. */
      resolved: Array<{
        rule: string;
        severity: string;
        message: string;
      }>;
      /** Findings of the wrapper. */
      remaining: Array<{
        rule: string;
        severity: string;
        message: string;
      }>;
      /** What the migration could not raise, and what would. */
      not_raised: Array<{
        what: string;
        why: string;
      }>;
      /** How many commands the program has, and how many of them tools replace. */
      coverage: {
        commands: number;
        migrated: number;
      };
      /** Of the files: `compose migrate --plan` refuses to write others. */
      plan_token: string;
      dry_run: boolean;
    };
  };
  /** Record the named calls of a program once, and show what its migration would write. */
  'compose.plan': {
    input: {
      /** A program on the PATH, or a path. */
      program: string;
      /** A call that becomes a tool: what every call has, then -- and the arguments of the recorded one, such as "log --format=%H -- --max-count 3". */
      call?: Array<string> | undefined;
      /** A YAML file of such calls, with inputs, the form of the output, and error codes. */
      primitives?: string | undefined;
      /** The folder for the tools; by default the first of project.tools_dirs. */
      output?: string | undefined;
    };
    data: {
      program: string;
      tools: Array<{
        name: string;
        /** Its words in the wrapper. */
        command: string;
        /** The arguments that every call has. */
        call: Array<string>;
        /** The words of the old command. */
        replaces: Array<string>;
        /** The declared form of its output. */
        output: string;
        inputs: number;
        /** The arguments of the recorded call. */
        recorded: Array<string>;
        /** What a person should check; the manifest has it as comments. */
        uncertain: Array<{
          input: string;
          check: string;
        }>;
      }>;
      files: Array<{
        path: string;
        text?: string | undefined;
      }>;
      score: {
        /** Of the program, from 0 to 100. */
        before: number;
        /** Of the wrapper; null until it is written. */
        after: number | null;
      };
      /** Findings of the program that the wrapper does not have. */
      resolved: Array<{
        rule: string;
        severity: string;
        message: string;
      }>;
      /** Findings of the wrapper. */
      remaining: Array<{
        rule: string;
        severity: string;
        message: string;
      }>;
      /** What the migration could not raise, and what would. */
      not_raised: Array<{
        what: string;
        why: string;
      }>;
      /** How many commands the program has, and how many of them tools replace. */
      coverage: {
        commands: number;
        migrated: number;
      };
      /** Of the files: `compose migrate --plan` refuses to write others. */
      plan_token: string;
      dry_run: boolean;
    };
  };
  /** Set a key of the configuration; comments stay, and the value is checked first. */
  'config.set': {
    input: {
      /** The key, with dots: environment.timeout_s. */
      key: string;
      /** The value. A list has commas, or is YAML: [a, b]; a map is YAML: {a: 1}. */
      value: string;
      /** Your own file, for all your projects; without it the file of the project. */
      user?: boolean | undefined;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      file: string;
      key: string;
      /** The value in the file before; null when it had none. */
      before: unknown;
      /** The value in the file now; null when it has none. */
      after: unknown;
      /** Unified; empty when nothing changes. */
      diff: string;
      /** The value that holds now, and where it comes from; null with --dry-run, and for a key without a value. */
      holds: {
        value: unknown;
        source: string;
        where: string | null;
      } | null;
      /** Whether the value has no effect until a person trusts the project. */
      needs_trust: boolean;
      dry_run: boolean;
    };
  };
  /** Show the current configuration, and where each value comes from. */
  'config.show': {
    input: {
      /** Only keys that begin with this, such as environment. */
      key?: string | undefined;
    };
    data: {
      root: string;
      file: string | null;
      values: Array<{
        key: string;
        value: unknown;
        source: string;
        where: string | null;
      }>;
    };
  };
  /** Remove a key from the configuration, so that the next source decides. */
  'config.unset': {
    input: {
      /** The key, with dots: environment.timeout_s. */
      key: string;
      /** Your own file, for all your projects; without it the file of the project. */
      user?: boolean | undefined;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      file: string;
      key: string;
      /** The value in the file before; null when it had none. */
      before: unknown;
      /** The value in the file now; null when it has none. */
      after: unknown;
      /** Unified; empty when nothing changes. */
      diff: string;
      /** The value that holds now, and where it comes from; null with --dry-run, and for a key without a value. */
      holds: {
        value: unknown;
        source: string;
        where: string | null;
      } | null;
      /** Whether the value has no effect until a person trusts the project. */
      needs_trust: boolean;
      dry_run: boolean;
    };
  };
  /** Show the processes that wait to run commands of programs faster, and whether calls from here use them. */
  'host.show': {
    input: Record<string, never>;
    data: {
      /** The key `host` of the configuration. */
      host: 'auto' | 'off';
      /** False for a caller in a sandbox or with limited processor time, and without the compiled program on Linux. */
      is_possible: boolean;
      /** The processes of this user. */
      processes: Array<{
        /** The process. */
        pid: number;
        /** Whether it waits for a call. */
        state: 'idle' | 'busy';
        /** The folder for whose project it was started. */
        project: string;
        /** Whether a call from here may reach it. */
        is_ours: boolean;
      }>;
    };
  };
  /** End the processes that wait to run commands; one that runs a command ends after it. */
  'host.stop': {
    input: {
      /** List what would end, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      /** What ends. */
      processes: Array<{
        /** The process. */
        pid: number;
        /** Whether it waits for a call. */
        state: 'idle' | 'busy';
        /** The folder for whose project it was started. */
        project: string;
      }>;
      dry_run: boolean;
    };
  };
  /** Deliver the messages about runs that no receiver has taken yet (`notify`, `telemetry`), or test the receivers. */
  'outbox.deliver': {
    input: {
      /** Send a test message to every receiver instead. */
      test?: boolean | undefined;
      /** Try again for up to five minutes, and leave the rest to the next run or to the server. */
      keep_trying?: boolean | undefined;
      /** Send nothing; only list the receivers. */
      dry_run?: boolean | undefined;
    };
    data: {
      receivers: Array<{
        /** The host or the program; where several have the same, with its place in the configuration. */
        target: string;
        on: Array<string>;
        /** How often in a row it has not taken a message. */
        failed: number;
        error: string | null;
      }>;
      sent: Array<{
        run_id: string;
        type: string;
        receiver: string;
        /** Null when the receiver took it. */
        error: string | null;
      }>;
      dry_run: boolean;
    };
  };
  /** List the plugins of this project: their approval, their hooks, and how to approve them. */
  'plugin.list': {
    input: Record<string, never>;
    data: {
      plugins: Array<{
        /** The name of the plugin: that of its file. */
        name: string;
        file: string;
        /** changed: it was approved, and then changed. broken: its files cannot be read. */
        state: 'approved' | 'not_approved' | 'changed' | 'broken';
        /** What it takes part in, languages included; null when it is not loaded. */
        hooks: Array<string> | null;
        /** Why it does not run. */
        problems: Array<string>;
      }>;
    };
  };
  /** Check a tool, or a call of it, against the policy: every violation, and every policy file that applied. */
  'policy.check': {
    input: {
      /** The name of the tool. */
      tool: string;
      /** Arguments of the tool, to check this call of it: they may grant paths. */
      args?: Array<string> | undefined;
    };
    data: {
      /** Whether the policy allows it. */
      allowed: boolean;
      violations: Array<{
        /** The key of the manifest, or the argument, that requests it. */
        path: string;
        asked: unknown;
        allowed: unknown;
        /** The line of the policy that rejects it. */
        by: string;
        rule: string;
        fix: string;
      }>;
      files: Array<{
        source: 'system' | 'user' | 'project';
        file: string;
        engine: string;
      }>;
      approval: {
        state: 'not_needed' | 'valid' | 'missing' | 'stale';
        /** Of the current manifest and entry. */
        digest: string | null;
        /** The person who approved it, or the line of the policy file. */
        by: string | null;
        at: string | null;
        files: Array<{
          name: string;
          sha256: string;
        }>;
        /** The files that made it stale. */
        changed: Array<string>;
      };
      /** For a call: the names of its secret inputs and of the stored secrets in it. ACOR masks them for policy engines and in this answer. */
      masked?: Array<string> | undefined;
      tool: string;
      level: 'minimal' | 'standard' | 'privileged';
    };
  };
  /** Make this folder a project: configuration, the ./tool shortcut, ignore rules, a first tool that runs. */
  'project.init': {
    input: {
      /** The language of the first tool; by default python if it is installed, else bash. */
      template?: 'python' | 'bash' | 'node' | 'typescript' | 'go' | 'rust' | undefined;
      /** Convert a project with tools/run.py and tools/<name>/cli.py, so that ACOR runs its tools. */
      from_existing?: boolean | undefined;
      /** Also write the files by which these agents find ACOR: claude, codex, gemini, separated by commas. */
      agents?: string | undefined;
      /** With --agents: write only those files, no configuration and no tool. */
      agents_only?: boolean | undefined;
      /** Replace files that ACOR wrote and that were changed; .acor/replaced/ keeps the old ones. */
      force?: boolean | undefined;
      /** Show what would happen to each file, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      root: string;
      dry_run: boolean;
      /** How many files were written, changed or moved. */
      changed: number;
      files: Array<{
        /** Relative to the project’s folder; absolute when it is outside. */
        path: string;
        action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
        why?: string | undefined;
        /** What a person must do by hand. */
        by_hand?: string | undefined;
        lines?: Array<{
          line: number;
          before: string;
          after: string;
        }> | undefined;
      }>;
      /** The first tool, if one was written. */
      tool: string | null;
      notes: Array<string>;
    };
  };
  /** Write a tool to begin with: entry, manifest, selftest, a test and a README. */
  'project.template': {
    input: {
      /** The language of the tool. */
      language: 'python' | 'bash' | 'node' | 'typescript' | 'go' | 'rust';
      /** The name of the tool. */
      name?: string | undefined;
      /** The parent of the tool’s folder; by default tools/ of the project. */
      output?: string | undefined;
      /** List what would be written, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      language: 'python' | 'bash' | 'node' | 'typescript' | 'go' | 'rust';
      folder: string;
      dry_run: boolean;
      files: Array<{
        /** Relative to the project’s folder; absolute when it is outside. */
        path: string;
        action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
        why?: string | undefined;
        /** What a person must do by hand. */
        by_hand?: string | undefined;
        lines?: Array<{
          line: number;
          before: string;
          after: string;
        }> | undefined;
      }>;
      notes: Array<string>;
    };
  };
  /** Trust what this project's configuration widens: a person reads each setting, and types a word. Without trust it has no effect. */
  'project.trust': {
    input: {
      /** List what the configuration widens, and change nothing. */
      list?: boolean | undefined;
      /** Revoke the trust. */
      revoke?: boolean | undefined;
      /** Show what would be trusted or revoked, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      root: string;
      file: string | null;
      /** not_needed: the configuration widens nothing. */
      state: 'not_needed' | 'trusted' | 'untrusted' | 'revoked';
      by: string | null;
      at: string | null;
      settings: Array<{
        key: string;
        where: string;
        asked: unknown;
        /** The value that applies without trust. */
        without: unknown;
        means: string;
        /** Where its folders really are. The trust is valid while they are there. */
        leads_to?: Array<string> | undefined;
        /** Whether it has changed since a person trusted this project. */
        is_new: boolean;
      }>;
    };
  };
  /** Bring the files of the project up to date with this ACOR. ACOR itself is not changed. */
  'project.upgrade': {
    input: {
      /** Only .acor/config.yaml; else also version.json and outdated keys of manifests. */
      config?: boolean | undefined;
      /** Only the command that updates ACOR itself; nothing is changed. */
      self?: boolean | undefined;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      /** The project's folder; null with --self, which looks at none. */
      root: string | null;
      changes: Array<{
        file: string;
        /** The changes, made or (with --dry-run) planned. */
        steps: Array<string>;
        /** Unified. */
        diff: string;
        /** The copy of the file from before the change. */
        backup: string | null;
      }>;
      /** Null when the project has no configuration file, and with --self. */
      config_version: {
        from: number;
        to: number;
      } | null;
      dry_run: boolean;
      acor: {
        version: string;
        update_with: string;
      };
    };
  };
  /** Check configuration, manifests, error codes, policies, prompts and workflows; every finding has its place and its fix. */
  'project.validate': {
    input: {
      /** Tools by name, files or folders; by default the whole project. */
      targets?: Array<string> | undefined;
      /** Treat warnings as errors. */
      strict?: boolean | undefined;
      /** Fix what is safe to fix; comments and order stay as they are. */
      fix?: boolean | undefined;
      /** Also whether tools and project fit this version of ACOR. */
      check_versions?: boolean | undefined;
      /** Also run the self-tests of the tools. */
      selftest?: boolean | undefined;
      /** Also write the findings to this file, as a JUnit report. */
      junit?: string | undefined;
      /** Also write each finding to standard error as an annotation of GitHub. */
      ci?: boolean | undefined;
      /** With --fix: show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      findings: Array<{
        file: string;
        /** From 1; 0 is the whole file. */
        line: number;
        col: number;
        severity: 'error' | 'warning';
        rule: string;
        message: string;
        fix: string;
      }>;
      errors: number;
      warnings: number;
      /** How many tools were checked. */
      tools: number;
      /** With --fix: the files that were changed, or with --dry-run would be. */
      fixed: Array<{
        file: string;
        rules: Array<string>;
        diff: string;
      }>;
      dry_run: boolean;
    };
  };
  /** Answer a question of a running tool; the answer reaches the live process. */
  'run.answer': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** The question; optional when only one is open. */
      action_id?: string | undefined;
      /** The id of one of the options. */
      choice?: string | undefined;
      /** The answer as JSON. */
      value?: string | undefined;
      /** A file that holds the answer as JSON. */
      file?: string | undefined;
      /** The reason; it is recorded with the answer. */
      reason?: string | undefined;
      /** Who answers; by default the agent or the user that calls. An agent, or a client of a server, answers for them, and is recorded too. */
      by?: string | undefined;
      /** Check the answer, and do not give it. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      action_id: string;
      action: string;
      /** The answer; a long one is the beginning of its JSON. */
      answer: unknown;
      by: string;
      dry_run: boolean;
    };
  };
  /** Put the changes of a run that are in its layers in place: all, or some paths. */
  'run.apply': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Only these files and folders, with everything in them; all when there are none. */
      paths?: Array<string> | undefined;
      /** Check for conflicts and show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      /** The entries that were changed, or would be. */
      paths: Array<string>;
      /** Changes that are never put in place: pipes, devices and sockets, and links that lead out. */
      refused: Array<{
        path: string;
        why: 'special' | 'leads_out';
      }>;
      /** Applied changes that other programs may execute: read each of them first. */
      executed: Array<{
        path: string;
        way: 'set_id' | 'hook_or_settings' | 'scripts' | 'build' | 'executable';
      }>;
      /** How many changes of the run are not settled. */
      left: number;
      dry_run: boolean;
    };
  };
  /** Read an artifact of a run, or a part of it: text as it is, other bytes as base64. */
  'run.artifact': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** The path, as the run lists it, or the number in that list, from 1. */
      artifact: string;
      /** The first byte to read. */
      from?: number | undefined;
      /** How many bytes to read at most: by default 65536, as text 8388608. */
      bytes?: number | undefined;
    };
    data: {
      run_id: string;
      path: string;
      media_type: string;
      /** Of the whole artifact, in bytes. */
      size: number;
      sha256: string;
      from: number;
      /** How many bytes `content` covers. */
      bytes: number;
      encoding: 'utf8' | 'base64';
      content: string;
    };
  };
  /** List the artifacts of a run and of its steps: path, size, hash, media type. */
  'run.artifacts': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
    };
    data: {
      run_id: string;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
    };
  };
  /** Follow a run: stream its events until it ends or waits for an answer. */
  'run.attach': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Only events after this seq. */
      since?: number | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Cancel a run, and wait until it and everything it started has ended. */
  'run.cancel': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Why; the tool can read it, and the run records it. */
      reason?: string | undefined;
      /** Only report whether there is anything to cancel. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      state: string;
      was_running: boolean;
    };
  };
  /** Remove or pack old runs; live runs are never touched. */
  'run.clean': {
    input: {
      /** Keep this many of the newest runs; without any rule, storage.keep of the configuration applies. */
      keep?: number | undefined;
      /** Take only runs that ended more than this many days ago, or 12h, 7d. */
      older_than?: number | undefined;
      /** Pack the runs into few files instead of removing them; every command still reads them. */
      pack?: boolean | undefined;
      /** Take the runs whose files another program removed, and enter them as removed. */
      missing?: boolean | undefined;
      /** Show what would be removed or packed, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      removed: Array<string>;
      /** The runs that were moved from their folders into packs. */
      packed: Array<string>;
      /** The runs that were left as they are, and why. */
      skipped: Array<{
        run_id: string;
        reason: string;
      }>;
      /** Of all of them: a list may have only a page. */
      counts: {
        removed: number;
        packed: number;
        skipped: number;
      };
      dry_run: boolean;
      /** How many runs are still in the store, packed or not. */
      kept: number;
    };
  };
  /** Show what the runs of this project have cost: money and tokens. */
  'run.cost': {
    input: {
      /** How the runs are grouped; days are UTC. */
      by?: 'tool' | 'task' | 'caller' | 'day' | undefined;
    };
    data: {
      costs: Array<{
        /** The tool, task, caller or day; null for runs without a task or caller. */
        of: string | null;
        /** The runs that cost money or used tokens. */
        runs: number;
        /** Null when no price is known. */
        usd: number | null;
        /** The runs with tokens whose price is unknown: `usd` lacks these tokens. */
        unpriced_runs: number;
        input_tokens: number;
        /** Of the input tokens, those read from a cache. */
        cache_read_tokens: number;
        output_tokens: number;
      }>;
      /** The sum; null when no price is known. */
      usd: number | null;
      /** What the runs that ended today (UTC) have cost. */
      today_usd: number;
      /** budget.max_day_cost_usd. */
      day_limit_usd: number | null;
    };
  };
  /** Show the questions of tools and their answers: who decided, when, why. */
  'run.decisions': {
    input: {
      /** Only the questions of this run; by default of all runs. */
      run?: string | undefined;
      /** Only questions that accept an answer now. */
      open?: boolean | undefined;
    };
    data: {
      decisions: Array<{
        run_id: string;
        tool: string;
        action_id: string;
        action: string;
        audience: 'ai' | 'user' | 'model' | 'client';
        context: unknown;
        asked_at: string;
        /** Unanswered: the attempt that asked has ended. */
        state: 'answered' | 'open' | 'unanswered';
        answer: unknown;
        by: string | null;
        source: string | null;
        reason: string | null;
        answered_at: string | null;
        /** Of an open question. */
        question?: {
          msg: string | null;
          /** Whether the run waits for the answer. */
          blocking: boolean;
          options: Array<Record<string, unknown>> | null;
          /** JSON Schema of the answer. */
          schema: Record<string, unknown> | null;
          /** The answer that is used when none is given in time. */
          default?: unknown | undefined;
          /** Until when an answer is taken; null: as long as the run lives. */
          expires_at: string | null;
        } | undefined;
      }>;
      /** Of one run: who cancelled it, why, when. */
      cancelled?: {
        by: string;
        reason: string | null;
        at: string;
      } | undefined;
    };
  };
  /** Show what a run changed in its layers and in the folders with a snapshot. */
  'run.diff': {
    input: {
      /** The id of the run, or last for the newest one. */
      run?: string | undefined;
      /** List the changes without their texts. */
      stat?: boolean | undefined;
    };
    data: {
      run_id: string;
      places: Array<{
        path: string;
        mode: 'review' | 'snapshot';
        state: 'open' | 'pending' | 'too_large' | 'unchanged' | 'applied' | 'discarded' | 'undone';
      }>;
      changes: Array<{
        path: string;
        change: 'added' | 'modified' | 'deleted' | 'mode';
        /** False for a change that is only in a layer. */
        in_place: boolean;
        before: {
          kind: 'file' | 'folder' | 'link' | 'special';
          mode: string;
          size?: number | undefined;
          sha256?: string | undefined;
          leads_to?: string | undefined;
        } | null;
        after: {
          kind: 'file' | 'folder' | 'link' | 'special';
          mode: string;
          size?: number | undefined;
          sha256?: string | undefined;
          leads_to?: string | undefined;
        } | null;
        /** Why it is never put in place: a pipe, device or socket, or a link that leads out. */
        refused?: 'special' | 'leads_out' | undefined;
        /** How other programs may execute the changed entry later. */
        executed?: 'set_id' | 'hook_or_settings' | 'scripts' | 'build' | 'executable' | undefined;
        /** The change of a text file as a unified diff. */
        patch?: string | undefined;
      }>;
      /** What was done with the changes so far. */
      effects: Array<{
        ts: string;
        effect: 'applied' | 'discarded' | 'undone';
        by: string;
        count: number;
        paths: Array<string>;
      }>;
    };
  };
  /** Drop the changes in the layers of a run, and its snapshots. */
  'run.discard': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Show what would be dropped, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      /** The files and folders whose layer or snapshot is dropped. */
      places: Array<string>;
      dry_run: boolean;
    };
  };
  /** Run any program or script with the sandbox, limits and record of a tool. */
  'run.exec': {
    input: {
      /** A program on the PATH, or the path of a program or script. */
      program: string;
      /** Its arguments. One that names an existing file is granted for reading; with . it starts in the current folder. */
      args?: Array<string> | undefined;
      /** A file or folder that it may read; - gives it your standard input. It starts in the current folder when that is granted. */
      read?: Array<string> | undefined;
      /** A file or folder that it may write: where it is, but a file that is an argument is replaced when the run completes. */
      write?: Array<string> | undefined;
      /** A host that it may access, as host:port. */
      net?: Array<string> | undefined;
      /** A further program that it may start. */
      cmd?: Array<string> | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the whole run. */
      timeout?: number | undefined;
      /** How often a retryable failure is retried. */
      retries?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues under a supervisor process. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the tool may ask; VALUE is JSON, else plain text. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Idempotency key: repeating the call with the same key shows the existing run instead of starting a second one. */
      idempotency_key?: string | undefined;
      /** The token of a dry run; ACOR rejects it when the plan has changed since. */
      plan?: string | undefined;
      /** Keep the changes of files and folders in a layer; `apply` puts them in place. */
      review?: boolean | undefined;
      /** Copy the files and folders that it may change first; `undo` restores them. */
      snapshot?: boolean | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
      /** Which exit code to end with: ACOR's, or the tool's own (124 deadline, 130 cancelled). */
      exit_code?: 'acor' | 'tool' | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      tool: string;
      version: string;
      argv: Array<string>;
      /** The arguments as the record of the run shows them: secrets are masked. */
      args: Array<string>;
      /** The arguments as they were given; null when one of them is a secret. */
      given_args: Array<string> | null;
      cwd: string;
      env: Array<string>;
      grants: Array<{
        path: string;
        access: 'read' | 'write';
        input: string;
        /** How it is written; in place when absent. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      staged: Array<{
        input: string;
        target: string;
        /** `review`: it is put in place when it is applied. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      limits: Record<string, unknown>;
      retry: Record<string, unknown>;
      isolation: Record<string, unknown>;
      /** What the run would ask a person for before the tool starts (`security.on_denied: ask`). */
      asks: Array<{
        action: 'allow_path' | 'allow_command';
        name: string;
        access?: 'read' | 'write' | undefined;
      }>;
      /** The names of the stored secrets that the tool would get. */
      secrets: Array<string>;
      lowered: Array<{
        what: string;
        asked: number;
        allowed: number;
        by?: string | undefined;
      }>;
      /** Pass it to --plan to run exactly this; null for a tool that only reads. */
      token: string | null;
      /** Paths too large to be read as a whole: the token covers the rest of their files by size and time. */
      compared_by_size: Array<string>;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Show what the recorded runs suggest to change, and make one of these changes when asked. */
  'run.insights': {
    input: {
      /** Only runs of this tool. */
      tool?: string | undefined;
      /** Only runs created in the last so many days, or 12h, 7d. */
      newer_than?: number | undefined;
      /** Read at most so many of the newest runs. */
      runs?: number | undefined;
      /** Make the change of this proposal: its number or its id. */
      apply?: string | undefined;
      /** With --apply: show the change, and make none. */
      dry_run?: boolean | undefined;
    };
    data: {
      runs_read: number;
      /** When the oldest of these runs was created. */
      since: string | null;
      /** By tool, those that took the most time first. */
      tools: Array<{
        tool: string;
        runs: number;
        failed: number;
        /** Attempts after the first. */
        retried: number;
        median_s: number | null;
        p95_s: number | null;
        total_s: number;
        /** Null when no run reported a cost. */
        cost_usd: number | null;
        /** The most frequent first. */
        codes: Array<{
          code: string;
          runs: number;
        }>;
      }>;
      proposals: Array<{
        /** Its number in this answer, for --apply. */
        n: number;
        /** Its name, for --apply: it stays when the numbers change. */
        id: string;
        kind: 'failure' | 'retries' | 'timeout' | 'answer' | 'workflow' | 'adopt' | 'host' | 'input' | 'retried' | 'slow' | 'cost';
        what: string;
        why: string;
        /** How many runs say so. */
        runs: number;
        /** Of how many that could. */
        of: number;
        /** The newest of these runs. */
        examples: Array<string>;
        /** Whether --apply can make the change; otherwise a person decides how. */
        applies: boolean;
      }>;
      applied: {
        id: string;
        file: string;
        /** Unified. */
        diff: string;
        dry_run: boolean;
      } | null;
    };
  };
  /** List the runs of this project, the newest first. */
  'run.list': {
    input: {
      /** Only runs of this tool. */
      tool?: string | undefined;
      /** Only runs in this state. */
      state?: 'queued' | 'running' | 'waiting_ai' | 'completed' | 'failed' | 'cancelled' | undefined;
      /** Only tools, workflows, pipes or tasks. */
      kind?: 'tool' | 'workflow' | 'pipe' | 'task' | undefined;
      /** Only runs of this caller: token:ci, agent:claude-code, schedule:nightly, or a name alone. */
      caller?: string | undefined;
      /** Only the steps of this run. */
      parent?: string | undefined;
      /** Only runs that are no step of another run. */
      top_level?: boolean | undefined;
      /** Only runs older than this one: the last id of a page, to read on. */
      before?: string | undefined;
      /** Only runs created at this time or later: 2026-01-31, 2026-01-31T12:00Z. */
      created_after?: string | undefined;
      /** Only runs created before this time. */
      created_before?: string | undefined;
      /** Only runs with this text in their id, tool, arguments, error code or message. */
      text?: string | undefined;
    };
    data: {
      runs: Array<{
        run_id: string;
        tool: string;
        state: string;
        code: string | null;
        /** Why it failed, in words. */
        message: string | null;
        /** The action of the question that it waits for. */
        question: string | null;
        attempt: number;
        created_at: string;
        duration_s: number | null;
        /** Seconds since the last event of a live run. */
        silent_for_s: number | null;
        /** When a live run last reported progress. */
        last_progress_at: string | null;
        /** The file of a workflow. */
        file?: string | undefined;
        /** Its supervisor is gone, and no process has recovered it yet: resume it, or recover it by `health` with `fix`. */
        lost?: true | undefined;
        /** Set when the record or the log does not match its seal: what is shown may be forged. */
        unverified?: string | undefined;
      }>;
    };
  };
  /** Read the events of a run, or follow them until it ends. */
  'run.logs': {
    input: {
      /** The id of the run, or last for the newest one. */
      run?: string | undefined;
      /** Continue until the run ends, one event a line. An answer without a stream comes then, or at a question. */
      follow?: boolean | undefined;
      /** Only events after this seq. */
      since?: number | undefined;
      /** Only events of this type; may be given several times. */
      type?: Array<string> | undefined;
      /** Only events with this text, in any case. */
      text?: string | undefined;
      /** json: the events. text: one readable line for each. */
      format?: 'json' | 'text' | undefined;
    };
    data: {
      run_id: string;
      events: Array<Record<string, unknown>>;
      /** The seq of the last event that was read: give it as `since` to read on. */
      last_seq: number;
    };
  };
  /** Remove runs that have ended; `clean` removes many by a rule. */
  'run.remove': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** The ids of more runs. */
      more?: Array<string> | undefined;
      /** Show what would be removed, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      removed: Array<string>;
      /** The runs that were left as they are, and why. When all of them are, the call fails. */
      skipped: Array<{
        run_id: string;
        reason: string;
      }>;
      dry_run: boolean;
    };
  };
  /** Replay the events of an ended run, or execute it again and compare the artifacts. */
  'run.replay': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** How many times as fast as the run was; by default 1. */
      speed?: number | undefined;
      /** Emit all events without any wait. */
      at_once?: boolean | undefined;
      /** Run the tool again, as a new run with the same arguments and answers, and report which artifacts differ. Outputs stay in the new run's folder; the tool repeats every change that it makes in place. */
      execute?: boolean | undefined;
      /** With --execute: write events as they come; --no-stream writes one envelope at the end. */
      stream?: boolean | undefined;
      /** With --execute: show what would run, and start nothing. */
      dry_run?: boolean | undefined;
      /** With --execute: the token of a dry run; ACOR rejects it when the plan has changed since. */
      plan?: string | undefined;
      /** With --execute: also a tool with `effects: destroys` in its manifest. */
      force?: boolean | undefined;
    };
    data: {
      run_id: string;
      replays: string;
      state: 'completed' | 'failed' | 'cancelled';
      artifacts: {
        same: Array<string>;
        differing: Array<{
          /** Relative to the folder of the run, or else absolute. */
          path: string;
          recorded: {
            path: string;
            /** In bytes. */
            size: number;
            sha256: string;
          } | null;
          now: {
            path: string;
            /** In bytes. */
            size: number;
            sha256: string;
          } | null;
        }>;
      };
      /** Whether both runs made the same artifacts. */
      same: boolean;
    } | {
      tool: string;
      version: string;
      argv: Array<string>;
      /** The arguments as the record of the run shows them: secrets are masked. */
      args: Array<string>;
      /** The arguments as they were given; null when one of them is a secret. */
      given_args: Array<string> | null;
      cwd: string;
      env: Array<string>;
      grants: Array<{
        path: string;
        access: 'read' | 'write';
        input: string;
        /** How it is written; in place when absent. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      staged: Array<{
        input: string;
        target: string;
        /** `review`: it is put in place when it is applied. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      limits: Record<string, unknown>;
      retry: Record<string, unknown>;
      isolation: Record<string, unknown>;
      /** What the run would ask a person for before the tool starts (`security.on_denied: ask`). */
      asks: Array<{
        action: 'allow_path' | 'allow_command';
        name: string;
        access?: 'read' | 'write' | undefined;
      }>;
      /** The names of the stored secrets that the tool would get. */
      secrets: Array<string>;
      lowered: Array<{
        what: string;
        asked: number;
        allowed: number;
        by?: string | undefined;
      }>;
      /** Pass it to --plan to run exactly this; null for a tool that only reads. */
      token: string | null;
      /** Paths too large to be read as a whole: the token covers the rest of their files by size and time. */
      compared_by_size: Array<string>;
    } | {
      run_id: string;
      state: string;
    };
  };
  /** Continue a run that failed, was cancelled or lost its supervisor, from its checkpoints. */
  'run.resume': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Seconds, or 5m, 1h, until the deadline of this attempt. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues in the background. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the tool may ask. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Also rerun an interrupted tool that is not idempotent: its effects may happen twice. */
      force?: boolean | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      run_id: string;
      mode: 'resume' | 'retry';
      tool: string;
      /** The recorded arguments; those of a secret input are masked. */
      args: Array<string>;
      cwd: string;
      /** The number that the attempt would have. */
      attempt: number;
      timeout_s: number;
      /** The checkpoints from which it would continue. */
      checkpoints: Array<string>;
      /** The completed steps of a workflow that would run again. */
      steps_again: Array<string>;
      /** The steps of a workflow that would run, unless their conditions skip them. */
      steps_to_run: Array<string>;
      /** The steps of a workflow whose results would be kept. */
      steps_kept: Array<string>;
      dry_run: true;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Run an ended run again from the beginning, without its checkpoints and answers. */
  'run.retry': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Seconds, or 5m, 1h, until the deadline of this attempt. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues in the background. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the tool may ask. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Also rerun an interrupted tool that is not idempotent: its effects may happen twice. */
      force?: boolean | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      run_id: string;
      mode: 'resume' | 'retry';
      tool: string;
      /** The recorded arguments; those of a secret input are masked. */
      args: Array<string>;
      cwd: string;
      /** The number that the attempt would have. */
      attempt: number;
      timeout_s: number;
      /** The checkpoints from which it would continue. */
      checkpoints: Array<string>;
      /** The completed steps of a workflow that would run again. */
      steps_again: Array<string>;
      /** The steps of a workflow that would run, unless their conditions skip them. */
      steps_to_run: Array<string>;
      /** The steps of a workflow whose results would be kept. */
      steps_kept: Array<string>;
      dry_run: true;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Show one run: its state, progress, result and artifacts. */
  'run.show': {
    input: {
      /** The id of the run, or last for the newest one. */
      run?: string | undefined;
    };
    data: {
      version: 1;
      run_id: string;
      kind: 'tool' | 'workflow' | 'pipe' | 'task';
      tool: string;
      title?: string | undefined;
      tool_version: string | null;
      tool_digest: string | null;
      plan_digest?: string | undefined;
      args: Array<string>;
      given_args: Array<string> | null;
      cwd: string;
      project_root?: string | undefined;
      state: 'queued' | 'running' | 'waiting_ai' | 'completed' | 'failed' | 'cancelled';
      attempt: number;
      epoch: number;
      created_at: string;
      started_at: string | null;
      ended_at: string | null;
      timeout_s: number;
      given_timeout_s?: number | undefined;
      code: string | null;
      message: string | null;
      rc: number | null;
      signal: string | null;
      has_result?: true | undefined;
      events: number | null;
      duration_s: number | null;
      usage: Record<string, unknown> | null;
      cost_usd: number | null;
      cost: {
        /** US dollars; a lower bound when `unpriced` names something. Null when no price is known. */
        usd: number | null;
        /** The tool reported it, or the tokens were priced by the configuration or by the price table; or the manifest states it. */
        source: 'reported' | 'configured' | 'priced' | 'manifest' | 'mixed' | null;
        /** The key of the configuration, or the version of the price table. */
        priced_by?: string | undefined;
        /** The kinds of tokens whose price is unknown. */
        unpriced?: Array<string> | undefined;
        model?: string | undefined;
        input_tokens?: number | undefined;
        cache_read_tokens?: number | undefined;
        cache_write_tokens?: number | undefined;
        output_tokens?: number | undefined;
        reasoning_tokens?: number | undefined;
        /** What the child runs cost, which they record themselves. */
        children_usd?: number | undefined;
        [key: string]: unknown;
      } | null;
      cost_limit_usd: number | null;
      trace_id: string;
      span_id: string;
      idempotent: boolean;
      idempotency_key: string | null;
      replays: string | null;
      supervisor: {
        pid: number;
        start_time: number | null;
        boot_id: string | null;
      };
      isolation: {
        backend: string;
        tier: number;
        enforced: Array<string>;
        not_enforced: Array<string>;
        /** What enforces each resource limit; null means no limit. */
        limits?: Record<string, string | null> | undefined;
        [key: string]: unknown;
      };
      acor_version: string;
      protocol_version: number;
      writes: 'in_place' | 'snapshot' | 'review' | null;
      caller: string | null;
      restarted_by?: Array<string | null> | undefined;
      reads: {
        run_id: string;
        form: 'lines' | 'messages' | 'records';
      } | null;
      has_questions?: boolean | undefined;
      staged: Array<string>;
      parent: {
        run_id: string;
        task_id: string;
      } | null;
      dir: string;
      /** Its supervisor is gone, and no process has recovered it yet: resume it, or recover it by `health` with `fix`. */
      lost?: true | undefined;
      /** Set when the record or the log does not match its seal: what is shown may be forged. */
      unverified?: string | undefined;
      last_event_at: string | null;
      /** Seconds since the last event of a live run. */
      silent_for_s: number | null;
      /** When a live run last reported progress. */
      last_progress_at: string | null;
      progress: {
        step: string | null;
        pct: number | null;
        msg: string | null;
      } | null;
      /** The open questions, which accept an answer now; of an ended run, those that have no answer. */
      questions: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }>;
      result: Record<string, unknown> | null;
      error: Record<string, unknown> | null;
      /** Who cancelled the run; absent where ACOR did. */
      cancelled_by?: string | undefined;
      /** How to fix a failed run. */
      hint: string | null;
      /** The last lines of stderr of a failed run. */
      stderr?: Array<string> | undefined;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      /** The files and folders whose changes can be applied or discarded (review), or undone (snapshot). */
      undecided?: Array<{
        path: string;
        mode: 'review' | 'snapshot';
        state: 'open' | 'pending' | 'too_large';
        /** The run that has the changes, when it is one that this run has started. */
        run_id?: string | undefined;
      }> | undefined;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
    };
  };
  /** Run a tool under supervision and stream its events. */
  'run.start': {
    input: {
      /** The tool to run, or the path of a script or program: ./report.sh. */
      tool: string;
      /** The tool's arguments. They may include flags of ACOR that the tool does not declare itself; after -- every word is for the tool. So is every word behind a script that declares no inputs. */
      args?: Array<string> | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the whole run. */
      timeout?: number | undefined;
      /** How often a retryable failure is retried. */
      retries?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues under a supervisor process. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the tool may ask; VALUE is JSON, else plain text. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Idempotency key: repeating the call with the same key shows the existing run instead of starting a second one. */
      idempotency_key?: string | undefined;
      /** The token of a dry run; ACOR rejects it when the plan has changed since. */
      plan?: string | undefined;
      /** Keep the changes of files and folders in a layer; `apply` puts them in place. */
      review?: boolean | undefined;
      /** Copy the files and folders that it may change first; `undo` restores them. */
      snapshot?: boolean | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
      /** Which exit code to end with: ACOR's, or the tool's own (124 deadline, 130 cancelled). */
      exit_code?: 'acor' | 'tool' | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      tool: string;
      version: string;
      argv: Array<string>;
      /** The arguments as the record of the run shows them: secrets are masked. */
      args: Array<string>;
      /** The arguments as they were given; null when one of them is a secret. */
      given_args: Array<string> | null;
      cwd: string;
      env: Array<string>;
      grants: Array<{
        path: string;
        access: 'read' | 'write';
        input: string;
        /** How it is written; in place when absent. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      staged: Array<{
        input: string;
        target: string;
        /** `review`: it is put in place when it is applied. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      limits: Record<string, unknown>;
      retry: Record<string, unknown>;
      isolation: Record<string, unknown>;
      /** What the run would ask a person for before the tool starts (`security.on_denied: ask`). */
      asks: Array<{
        action: 'allow_path' | 'allow_command';
        name: string;
        access?: 'read' | 'write' | undefined;
      }>;
      /** The names of the stored secrets that the tool would get. */
      secrets: Array<string>;
      lowered: Array<{
        what: string;
        asked: number;
        allowed: number;
        by?: string | undefined;
      }>;
      /** Pass it to --plan to run exactly this; null for a tool that only reads. */
      token: string | null;
      /** Paths too large to be read as a whole: the token covers the rest of their files by size and time. */
      compared_by_size: Array<string>;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Restore what a run changed in place from the snapshot that was made before it. */
  'run.undo': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Only these files and folders, with everything in them; all when there are none. */
      paths?: Array<string> | undefined;
      /** Check for conflicts and show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      /** The entries that were changed, or would be. */
      paths: Array<string>;
      /** Changes that are never put in place: pipes, devices and sockets, and links that lead out. */
      refused: Array<{
        path: string;
        why: 'special' | 'leads_out';
      }>;
      /** Applied changes that other programs may execute: read each of them first. */
      executed: Array<{
        path: string;
        way: 'set_id' | 'hook_or_settings' | 'scripts' | 'build' | 'executable';
      }>;
      /** How many changes of the run are not settled. */
      left: number;
      dry_run: boolean;
    };
  };
  /** Recompute the seals, the artifacts and the ledger, and report every change. */
  'run.verify': {
    input: {
      /** The id of one run; by default all runs. */
      run?: string | undefined;
    };
    data: {
      ok: boolean;
      /** The given run, and the steps of a workflow or a pipe with a problem or a note. Without a run, all runs with a problem or a note. 1,000 at most. */
      runs: Array<{
        run_id: string;
        ok: boolean;
        /** False for a live run, and for a run that lost its supervisor. */
        sealed: boolean;
        events: number;
        /** The seq of the last event that a seal covers. */
        sealed_events: number;
        artifacts: number;
        /** Why no seal covers the whole log: the run is live, lost its supervisor, or was sealed later. */
        note: string | null;
        problems: Array<{
          run_id: string;
          where: 'record' | 'events' | 'artifact' | 'ledger';
          path: string;
          problem: string;
          line?: number | undefined;
          /** The offset of the first changed byte. */
          from?: number | undefined;
          /** The offset after the last changed byte. */
          to?: number | undefined;
        }>;
      }>;
      /** 1,000 at most. */
      ledger: Array<{
        run_id: string;
        where: 'record' | 'events' | 'artifact' | 'ledger';
        path: string;
        problem: string;
        line?: number | undefined;
        /** The offset of the first changed byte. */
        from?: number | undefined;
        /** The offset after the last changed byte. */
        to?: number | undefined;
      }>;
      /** Runs of another user, which this one may not read: they were not verified. 1,000 at most. */
      closed: Array<string>;
      /** Of all runs that were verified, and of the ledger. */
      counts: {
        /** How many runs were verified. */
        runs: number;
        sealed: number;
        events: number;
        artifacts: number;
        problems: number;
      };
    };
  };
  /** Wait until a run ends or asks a question, without printing its events. */
  'run.wait': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Stop waiting after this many seconds, or 5m; the run continues. */
      timeout?: number | undefined;
      /** What to wait for: ending (only the end), or question (a question or the end). */
      until?: 'ending' | 'question' | undefined;
    };
    data: {
      run_id: string;
      state: string;
      code: string | null;
      waited: 'ended' | 'question' | 'timeout';
      /** The open questions, which accept an answer now; of an ended run, those that have no answer. */
      questions: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }>;
      result: Record<string, unknown> | null;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
    };
  };
  /** Run a tool or a workflow at the times of a cron expression, while `acor serve` runs. */
  'schedule.add': {
    input: {
      /** The tool to run; with --workflow, the workflow. */
      tool: string;
      /** Its arguments. They may include flags of ACOR that it does not declare itself; after -- every word is for the tool. */
      args?: Array<string> | undefined;
      /** The name; by default that of the tool or workflow. */
      name?: string | undefined;
      /** Run a workflow, not a tool. */
      workflow?: boolean | undefined;
      /** Check everything, and store nothing. */
      dry_run?: boolean | undefined;
      /** Minute, hour, day of the month, month, day of the week; a sixth field in front is seconds. */
      cron?: string | undefined;
      /** An IANA time zone; by default that of this machine. */
      timezone?: string | undefined;
      /** Delay each time by up to this, in seconds, or 5m, 1h. The delay of a time is always the same. */
      jitter?: number | undefined;
      /** What to do about times at which no server ran: run the latest, all of them, or none. */
      missed?: 'once' | 'all' | 'skip' | undefined;
    };
    data: {
      name: string;
      /** The tool or the workflow that it runs. */
      target: string;
      workflow: boolean;
      /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
      args: Array<string>;
      cron: string | null;
      timezone: string | null;
      jitter_s: number | null;
      missed: 'once' | 'all' | 'skip' | null;
      /** What a watch watches. */
      on: Array<string> | null;
      state: 'active' | 'paused';
      /** Why it is paused. */
      why: string | null;
      /** Null for a watch, and while it is paused. */
      next_at: string | null;
      last: {
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      } | null;
      /** Who added it. */
      by: string;
      created_at: string;
      /** Whether a server runs the schedules now; without one, no run is started. */
      served: boolean;
      dry_run: boolean;
    };
  };
  /** List the schedules and watches of this project, with what each did last. */
  'schedule.list': {
    input: Record<string, never>;
    data: {
      schedules: Array<{
        name: string;
        /** The tool or the workflow that it runs. */
        target: string;
        workflow: boolean;
        /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
        args: Array<string>;
        cron: string | null;
        timezone: string | null;
        jitter_s: number | null;
        missed: 'once' | 'all' | 'skip' | null;
        /** What a watch watches. */
        on: Array<string> | null;
        state: 'active' | 'paused';
        /** Why it is paused. */
        why: string | null;
        /** Null for a watch, and while it is paused. */
        next_at: string | null;
        last: {
          /** The scheduled time; for a watch, when the change was seen. */
          at: string;
          outcome: 'started' | 'skipped' | 'failed';
          run_id: string | null;
          /** Why no run was started. */
          why: string | null;
        } | null;
        /** Who added it. */
        by: string;
        created_at: string;
      }>;
      /** Whether a server runs them now; without one, no run is started. */
      served: boolean;
    };
  };
  /** Let a schedule or watch start no more runs until it is resumed. */
  'schedule.pause': {
    input: {
      /** The name of the schedule or watch. */
      name: string;
      /** Why, for those who see it paused. */
      reason?: string | undefined;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      /** The tool or the workflow that it runs. */
      target: string;
      workflow: boolean;
      /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
      args: Array<string>;
      cron: string | null;
      timezone: string | null;
      jitter_s: number | null;
      missed: 'once' | 'all' | 'skip' | null;
      /** What a watch watches. */
      on: Array<string> | null;
      state: 'active' | 'paused';
      /** Why it is paused. */
      why: string | null;
      /** Null for a watch, and while it is paused. */
      next_at: string | null;
      last: {
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      } | null;
      /** Who added it. */
      by: string;
      created_at: string;
      dry_run: boolean;
    };
  };
  /** Remove a schedule or watch; its runs stay. */
  'schedule.remove': {
    input: {
      /** The name of the schedule or watch. */
      name: string;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      removed: {
        name: string;
        /** The tool or the workflow that it runs. */
        target: string;
        workflow: boolean;
        /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
        args: Array<string>;
        cron: string | null;
        timezone: string | null;
        jitter_s: number | null;
        missed: 'once' | 'all' | 'skip' | null;
        /** What a watch watches. */
        on: Array<string> | null;
        state: 'active' | 'paused';
        /** Why it is paused. */
        why: string | null;
        /** Null for a watch, and while it is paused. */
        next_at: string | null;
        last: {
          /** The scheduled time; for a watch, when the change was seen. */
          at: string;
          outcome: 'started' | 'skipped' | 'failed';
          run_id: string | null;
          /** Why no run was started. */
          why: string | null;
        } | null;
        /** Who added it. */
        by: string;
        created_at: string;
      };
      dry_run: boolean;
    };
  };
  /** Let a paused schedule or watch start runs again; what happened meanwhile is not made up for. */
  'schedule.resume': {
    input: {
      /** The name of the schedule or watch. */
      name: string;
      /** Show what would change, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      /** The tool or the workflow that it runs. */
      target: string;
      workflow: boolean;
      /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
      args: Array<string>;
      cron: string | null;
      timezone: string | null;
      jitter_s: number | null;
      missed: 'once' | 'all' | 'skip' | null;
      /** What a watch watches. */
      on: Array<string> | null;
      state: 'active' | 'paused';
      /** Why it is paused. */
      why: string | null;
      /** Null for a watch, and while it is paused. */
      next_at: string | null;
      last: {
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      } | null;
      /** Who added it. */
      by: string;
      created_at: string;
      dry_run: boolean;
    };
  };
  /** Show a schedule or watch: its next times, and what it did at the last ones. */
  'schedule.show': {
    input: {
      /** The name of the schedule or watch. */
      name: string;
    };
    data: {
      name: string;
      /** The tool or the workflow that it runs. */
      target: string;
      workflow: boolean;
      /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
      args: Array<string>;
      cron: string | null;
      timezone: string | null;
      jitter_s: number | null;
      missed: 'once' | 'all' | 'skip' | null;
      /** What a watch watches. */
      on: Array<string> | null;
      state: 'active' | 'paused';
      /** Why it is paused. */
      why: string | null;
      /** Null for a watch, and while it is paused. */
      next_at: string | null;
      last: {
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      } | null;
      /** Who added it. */
      by: string;
      created_at: string;
      cwd: string;
      /** The next times, with their jitter. */
      upcoming: Array<string>;
      /** The newest first. */
      history: Array<{
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      }>;
      /** Whether a server runs the schedules now. */
      served: boolean;
    };
  };
  /** Run a tool or a workflow after each change of the files of a pattern, while `acor serve` runs. */
  'schedule.watch': {
    input: {
      /** The tool to run; with --workflow, the workflow. */
      tool: string;
      /** Its arguments. They may include flags of ACOR that it does not declare itself; after -- every word is for the tool. */
      args?: Array<string> | undefined;
      /** The name; by default that of the tool or workflow. */
      name?: string | undefined;
      /** Run a workflow, not a tool. */
      workflow?: boolean | undefined;
      /** Check everything, and store nothing. */
      dry_run?: boolean | undefined;
      /** A pattern of files, relative to the project's folder: 'src/**\/*.ts'. May be given several times. */
      on?: Array<string> | undefined;
    };
    data: {
      name: string;
      /** The tool or the workflow that it runs. */
      target: string;
      workflow: boolean;
      /** As they were given; where one is a secret, as the tool gets them, with [secret] in its place. */
      args: Array<string>;
      cron: string | null;
      timezone: string | null;
      jitter_s: number | null;
      missed: 'once' | 'all' | 'skip' | null;
      /** What a watch watches. */
      on: Array<string> | null;
      state: 'active' | 'paused';
      /** Why it is paused. */
      why: string | null;
      /** Null for a watch, and while it is paused. */
      next_at: string | null;
      last: {
        /** The scheduled time; for a watch, when the change was seen. */
        at: string;
        outcome: 'started' | 'skipped' | 'failed';
        run_id: string | null;
        /** Why no run was started. */
        why: string | null;
      } | null;
      /** Who added it. */
      by: string;
      created_at: string;
      /** Whether a server runs the schedules now; without one, no run is started. */
      served: boolean;
      dry_run: boolean;
    };
  };
  /** Remove a stored secret of this project. */
  'secret.delete': {
    input: {
      /** The name of the secret. */
      name: string;
      /** Report whether the secret exists, and remove nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      deleted: boolean;
    };
  };
  /** List the secrets of this project and the tools that need them, never their values. */
  'secret.list': {
    input: Record<string, never>;
    data: {
      secrets: Array<{
        name: string;
        /** False for a secret that a tool needs and that is not stored. */
        stored: boolean;
        /** In bytes. */
        size: number | null;
        /** The permissions of the file; 600 unless they were changed. */
        mode: string | null;
        changed_at: string | null;
        /** The tools of this project that need it. */
        tools: Array<string>;
      }>;
    };
  };
  /** Store a secret for the tools of this project; the value comes from standard input or a file. */
  'secret.set': {
    input: {
      /** The name, as a tool lists it under secrets: in its manifest. */
      name: string;
      /** A file with the value; by default standard input. */
      file?: string | undefined;
      /** Check the name and the value, and store nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      /** In bytes. */
      size: number;
      replaced: boolean;
      dry_run: boolean;
    };
  };
  /** Print the script that lets a shell complete commands, tools, their flags, runs and answers. */
  'system.complete': {
    input: {
      /** The shell. */
      shell: 'bash' | 'zsh' | 'fish' | 'powershell';
    };
    data: {
      shell: 'bash' | 'zsh' | 'fish' | 'powershell';
      script: string;
    };
  };
  /** List the error codes: class, whether to retry, what to do. */
  'system.errors': {
    input: {
      /** Only this code. */
      code?: string | undefined;
    };
    data: {
      codes: Array<{
        /** Stable. */
        code: string;
        /** What kind of failure it is: user_error, retryable, infra_error, unknown … */
        class: string;
        retryable: boolean;
        /** 1 failed, 2 something must be provided first. */
        exit: number;
        /** What an agent does. */
        action: string;
        /** The fix. */
        hint: string;
        source: 'built-in' | 'project';
      }>;
    };
  };
  /** Explain to an agent how to use this project: its tools, runs, questions, errors. */
  'system.explain': {
    input: {
      /** Only this topic, such as errors, or the name of a tool; without it, the overview, which lists them. */
      topic?: string | undefined;
      /** markdown, text: the document itself. json: the envelope, where messages, states and error codes are also data. */
      format?: 'markdown' | 'text' | 'json' | undefined;
      /** Also examples. */
      include_examples?: boolean | undefined;
      /** The version of the protocol to explain; ACOR rejects a version that it does not support. */
      protocol_version?: number | undefined;
    };
    data: {
      topic: string | null;
      protocol_version: number;
      sections: Array<{
        heading: string;
        /** Markdown. */
        text: string;
        /** With --format json: what the text lists. */
        items?: Array<Record<string, unknown>> | undefined;
      }>;
      /** Other values of --topic. */
      topics: Array<{
        name: string;
        about: string;
      }>;
    };
  };
  /** Check that everything a run needs is available, with a fix for everything that is missing. */
  'system.health': {
    input: {
      /** Recover the runs that have lost their supervisor: each ends as E_RUNNER_LOST. */
      fix?: boolean | undefined;
      /** With --fix: list what it would recover, and change nothing. */
      dry_run?: boolean | undefined;
      /** Also run the self-tests of the tools. */
      deep?: boolean | undefined;
    };
    data: {
      /** Whether the application can work. */
      status: 'ready' | 'degraded' | 'blocked';
      /** The name of the check. */
      checks: Array<{
        /** The name of the check. */
        name: string;
        /** The result of the check. */
        status: 'ok' | 'degraded' | 'blocked';
        /** What the check found. */
        detail: string;
        /** The exact command or edit that fixes it. */
        fix?: string | undefined;
      }>;
    };
  };
  /** Print the manual page (roff), for an installation without one. */
  'system.man': {
    input: Record<string, never>;
    data: {
      page: string;
    };
  };
  /** Print counters of the runs of this project, in the text format of Prometheus. */
  'system.metrics': {
    input: Record<string, never>;
    data: {
      families: Array<{
        name: string;
        type: 'counter' | 'gauge' | 'histogram';
        help: string;
        samples: Array<{
          name: string;
          labels: Record<string, string>;
          value: number;
        }>;
      }>;
    };
  };
  /** Prove this installation: create a project in a temporary folder, run tools in it, and verify the runs. */
  'system.self-test': {
    input: Record<string, never>;
    data: {
      /** Whether the application can work. */
      status: 'ready' | 'degraded' | 'blocked';
      /** The name of the check. */
      checks: Array<{
        /** The name of the check. */
        name: string;
        /** The result of the check. */
        status: 'ok' | 'degraded' | 'blocked';
        /** What the check found. */
        detail: string;
        /** The exact command or edit that fixes it. */
        fix?: string | undefined;
      }>;
    };
  };
  /** Describe every command of ACOR itself: parameters, output, examples. */
  'system.tools': {
    input: {
      /** Only this operation, by its dotted name or its command. */
      name?: string | undefined;
      /** All parameters and schemas of every command, not one line each. */
      full?: boolean | undefined;
    };
    data: {
      tools: Array<{
        /** Dotted group.action. */
        name: string;
        /** The full invocation, without its arguments. */
        command: string;
        category: string;
        description: string;
        effect: 'reads' | 'writes' | 'destroys';
        parameters: Array<{
          /** The flag without its dashes, or the name of the positional. */
          name: string;
          /** With [] when it may be repeated. */
          type: string;
          required: boolean;
          description: string;
          default?: unknown | undefined;
          enum?: Array<string | number | boolean> | undefined;
          positional?: true | undefined;
          /** The letter of the flag, without its dash. */
          short?: string | undefined;
          /** The variable that gives the value where the flag is not there. */
          env?: string | undefined;
          /** The key of the configuration that gives the value. */
          config?: string | undefined;
          /** It is deprecated: what to use in its place. */
          replacement?: string | undefined;
        }>;
        /** Names that --fields accepts. */
        outputFields: Array<string>;
        /** JSON Schema of data. */
        outputSchema: Record<string, unknown>;
        /** JSON Schema of --input-json. */
        inputSchema: Record<string, unknown>;
        idempotent: boolean;
        rateLimit: string | null;
        example: string;
        deprecated?: {
          /** The command that replaces it. */
          use: string;
          since?: string | undefined;
        } | undefined;
      }>;
      globalFlags: Array<{
        name: string;
        type: string;
        required: false;
        description: string;
      }>;
    } | {
      /** Dotted group.action. */
      name: string;
      /** The full invocation, without its arguments. */
      command: string;
      category: string;
      description: string;
      effect: 'reads' | 'writes' | 'destroys';
      parameters: Array<{
        /** The flag without its dashes, or the name of the positional. */
        name: string;
        /** With [] when it may be repeated. */
        type: string;
        required: boolean;
        description: string;
        default?: unknown | undefined;
        enum?: Array<string | number | boolean> | undefined;
        positional?: true | undefined;
        /** The letter of the flag, without its dash. */
        short?: string | undefined;
        /** The variable that gives the value where the flag is not there. */
        env?: string | undefined;
        /** The key of the configuration that gives the value. */
        config?: string | undefined;
        /** It is deprecated: what to use in its place. */
        replacement?: string | undefined;
      }>;
      /** Names that --fields accepts. */
      outputFields: Array<string>;
      /** JSON Schema of data. */
      outputSchema: Record<string, unknown>;
      /** JSON Schema of --input-json. */
      inputSchema: Record<string, unknown>;
      idempotent: boolean;
      rateLimit: string | null;
      example: string;
      deprecated?: {
        /** The command that replaces it. */
        use: string;
        since?: string | undefined;
      } | undefined;
    } | {
      tools: Array<{
        /** Dotted group.action. */
        name: string;
        /** The full invocation, without its arguments. */
        command: string;
        category: string;
        description: string;
        effect: 'reads' | 'writes' | 'destroys';
        example: string;
      }>;
    };
  };
  /** Show the version of ACOR; with --detailed, of all that it depends on. */
  'system.version': {
    input: {
      /** Also protocol, configuration, schemas, runtime, sandboxes, and whether the project is compatible. */
      detailed?: boolean | undefined;
    };
    data: {
      version: string;
      /** The version of the configuration file that this ACOR reads. */
      config_schema?: number | undefined;
      protocols?: Array<number> | undefined;
      /** The JSON Schemas for editors. */
      schemas?: Array<string> | undefined;
      installed?: {
        /** How ACOR was installed. */
        how: 'checkout' | 'npm' | 'npm-global' | 'program';
        /** The checkout, the project or the prefix of npm, or the folder of the program. */
        folder: string;
        /** The command that updates ACOR. */
        update_with: string;
      } | undefined;
      runtime?: string | undefined;
      platform?: string | undefined;
      features?: {
        /** The strongest first. */
        sandboxes: Array<{
          name: string;
          available: boolean;
          detail: string;
        }>;
        /** Optional packages. */
        peers: Array<{
          name: string;
          available: boolean;
          detail: string;
        }>;
      } | undefined;
      project?: {
        root: string;
        config_version: number;
        created_by: string | null;
        version_file: string | null;
        compatible: boolean;
        /** Why the project is incompatible with this ACOR. */
        problems: Array<string>;
      } | undefined;
    };
  };
  /** Assign a task to an agent, and continue it later under the same id. */
  'task.run': {
    input: {
      /** The id of the conversation; the same id continues it. */
      task_id: string;
      /** What the agent should do, or the next message of the conversation. */
      description: string;
      /** A file with the plan. */
      plan?: string | undefined;
      /** The agent that does it; by default task.executor of the configuration. */
      executor?: 'codex' | 'claude' | 'gemini' | 'responses' | 'command' | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the whole run. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues under a supervisor process. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that it may ask (actions: question, blocked). */
      answer?: Array<string> | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      tool: string;
      version: string;
      argv: Array<string>;
      /** The arguments as the record of the run shows them: secrets are masked. */
      args: Array<string>;
      /** The arguments as they were given; null when one of them is a secret. */
      given_args: Array<string> | null;
      cwd: string;
      env: Array<string>;
      grants: Array<{
        path: string;
        access: 'read' | 'write';
        input: string;
        /** How it is written; in place when absent. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      staged: Array<{
        input: string;
        target: string;
        /** `review`: it is put in place when it is applied. */
        mode?: 'in_place' | 'snapshot' | 'review' | undefined;
      }>;
      limits: Record<string, unknown>;
      retry: Record<string, unknown>;
      isolation: Record<string, unknown>;
      /** What the run would ask a person for before the tool starts (`security.on_denied: ask`). */
      asks: Array<{
        action: 'allow_path' | 'allow_command';
        name: string;
        access?: 'read' | 'write' | undefined;
      }>;
      /** The names of the stored secrets that the tool would get. */
      secrets: Array<string>;
      lowered: Array<{
        what: string;
        asked: number;
        allowed: number;
        by?: string | undefined;
      }>;
      /** Pass it to --plan to run exactly this; null for a tool that only reads. */
      token: string | null;
      /** Paths too large to be read as a whole: the token covers the rest of their files by size and time. */
      compared_by_size: Array<string>;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Make a tool of an installed program, or of a script: draft its manifest from its --help. */
  'tool.adopt': {
    input: {
      /** A name on the PATH, or a path. The manifest of a script in a tools folder is written beside it. */
      program: string;
      /** A subcommand of the program, such as: acor adopt git commit */
      subcommand?: Array<string> | undefined;
      /** One tool for each subcommand. */
      recursive?: boolean | undefined;
      /** How many levels of subcommands --recursive goes down. */
      depth?: number | undefined;
      /** The tool's name; by default that of the program and its subcommand. */
      name?: string | undefined;
      /** The folder for the tools; by default the first of project.tools_dirs. */
      output?: string | undefined;
      /** Show the manifests, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      drafts: Array<{
        name: string;
        command: Array<string>;
        /** The path of the manifest. */
        file: string;
        inputs: number;
        /** Which inputs came from which text; the manifest has it as comments. */
        sources: Array<{
          source: string;
          inputs: Array<string>;
        }>;
        /** What a person should check; the manifest has it as comments. */
        uncertain: Array<{
          input: string;
          check: string;
        }>;
        /** Options that a manifest cannot express, and why. */
        left_out: Array<string>;
        /** Lines that look like options and could not be read. */
        not_understood: Array<string>;
        /** Keys that a person may add to the manifest, which has them as comments. */
        offered: Array<{
          key: 'extra_args' | 'cwd';
          value: true | 'project';
          why: string;
        }>;
        /** Which files it finds when it runs. */
        files: string;
        /** The content of the manifest, with --dry-run. */
        manifest?: string | undefined;
      }>;
      dry_run: boolean;
      /** The sandbox in which ACOR ran the program for its help. */
      isolation: string;
      /** Every call of the program that ACOR made. */
      asked: Array<Array<string>>;
      passed_over: Array<{
        command: Array<string>;
        why: string;
      }>;
    };
  };
  /** Let a privileged tool or a plugin run: a person reads what it may do, and types its name. */
  'tool.approve': {
    input: {
      /** The name of the tool, or plugin:<name>. */
      tool?: string | undefined;
      /** List the approvals of this project. */
      list?: boolean | undefined;
      /** Revoke the approval of the tool. */
      revoke?: boolean | undefined;
      /** Show what would be approved or revoked, and change nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      root: string;
      approvals: Array<{
        tool: string;
        /** gone: the tool does not exist any more. missing: with --dry-run, a person would be asked. */
        state: 'valid' | 'stale' | 'gone' | 'revoked' | 'missing';
        digest: string;
        by: string;
        at: string;
        /** The files that made it stale. */
        changed: Array<string>;
      }>;
    };
  };
  /** Describe one tool: its inputs, what it may do, its limits, how to call it. */
  'tool.describe': {
    input: {
      /** The name of the tool. */
      tool: string;
      /** The whole manifest, with defaults. */
      manifest?: boolean | undefined;
      /** Only what the tool may do. */
      permissions?: boolean | undefined;
    };
    data: {
      name: string;
      [key: string]: unknown;
    };
  };
  /** Run a tool once, observed in a wider sandbox, and draft the least permissions that it needed. */
  'tool.learn': {
    input: {
      /** The tool to run. */
      tool: string;
      /** The tool's arguments: everything behind its name. */
      args?: Array<string> | undefined;
      /** A further file or folder that it may read. */
      read?: Array<string> | undefined;
      /** A further file or folder that it may change, in a layer. */
      write?: Array<string> | undefined;
      /** A host that it may access, as host:port. */
      net?: Array<string> | undefined;
      /** Write the draft to this file, which must not exist. */
      output?: string | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the run. */
      timeout?: number | undefined;
      /** Show what it could do while it is observed, and run nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string | null;
      state: 'completed' | 'failed' | 'cancelled' | null;
      tool: string;
      /** What it may read, change in a layer, and connect to while it is observed. */
      opened: {
        read: Array<string>;
        write: Array<string>;
        hosts: Array<string>;
      };
      /** The manifest with the drafted permissions, each line with its evidence, as YAML. */
      manifest: string | null;
      /** What the run used beyond its workspace, its arguments and the base system. */
      learned: Array<{
        permission: 'filesystem.read' | 'filesystem.write' | 'network.egress_allow' | 'commands';
        value: string;
        evidence: string;
      }>;
      /** What the tool tried and was refused, or what a manifest cannot express. */
      refused: Array<{
        what: string;
        why: string;
      }>;
    };
  };
  /** List the tools of this project. */
  'tool.list': {
    input: {
      /** Only tools whose name, category or description contains this text; with * or ?, whose name or category matches. */
      filter?: string | undefined;
      /** json: the envelope. table, text: for people. */
      format?: 'json' | 'table' | 'text' | undefined;
    };
    data: {
      tools: Array<{
        name: string;
        status: 'ok' | 'broken';
        version: string;
        language: string;
        adapter: string;
        category: string | null;
        description: string;
        level: 'minimal' | 'standard' | 'privileged';
        has_manifest: boolean;
        path: string;
        problems: Array<string>;
        /** Notes of plugins. */
        notes?: Array<string> | undefined;
      }>;
    };
  };
  /** Draw a workflow as Mermaid, DOT or JSON, optionally with the states of a run. */
  'workflow.graph': {
    input: {
      /** A workflow by name or path. */
      workflow: string;
      /** mermaid, dot: the document itself. text: for people. json: the envelope. */
      format?: 'mermaid' | 'dot' | 'text' | 'json' | undefined;
      /** A run of this workflow: colours its steps by their state. */
      run?: string | undefined;
    };
    data: {
      workflow: string;
      run_id: string | null;
      nodes: Array<{
        id: string;
        step: string;
        kind: 'tool' | 'decision' | 'parallel' | 'workflow' | 'pipe';
        /** The tool, or what the step does, in a few words. */
        does: string;
        when: string | null;
        foreach: boolean;
        finally: boolean;
        /** With --run; null when the run has not reached the step. */
        state: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped' | null;
      }>;
      /** From a step to one that needs it. */
      edges: Array<{
        from: string;
        to: string;
      }>;
    };
  };
  /** List the workflows of this project. */
  'workflow.list': {
    input: {
      /** Only workflows whose name or description contains this text. */
      filter?: string | undefined;
    };
    data: {
      workflows: Array<{
        /** The name of the workflow: that of its file. */
        name: string;
        file: string;
        description: string;
        steps: number;
        /** Required ones first. */
        inputs: Array<string>;
        /** Why the workflow cannot be read. */
        problem: string | null;
      }>;
    };
  };
  /** Run tools concurrently, each reading the records of the one before it from standard input. */
  'workflow.pipe': {
    input: {
      /** The tools, each with its arguments as one word; each tool reads the records of the one before. */
      stages?: Array<string> | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the whole pipe; by default that of its slowest tool. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the pipe continues under a supervisor process. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that a tool of the pipe may ask. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Idempotency key: repeating the call with the same key shows the existing pipe instead of starting a second one. */
      idempotency_key?: string | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      pipe: string;
      timeout_s: number;
      stages: Array<{
        task_id: string;
        tool: string;
        args: Array<string>;
        /** What it passes to the next stage. */
        records: 'lines' | 'messages' | 'records';
      }>;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Continue a workflow that ended early, or run a step and all that depend on it again. */
  'workflow.resume': {
    input: {
      /** The id of the run, or last for the newest one. */
      run: string;
      /** Seconds, or 5m, 1h, until the deadline of this attempt. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the run continues in the background. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the tool may ask. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Also when the file has changed, or a step that was stopped midway may repeat its effects. */
      force?: boolean | undefined;
      /** Show what would run, and start nothing. */
      dry_run?: boolean | undefined;
      /** Run this step and all that depend on it again, even if they are done. */
      from?: string | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      run_id: string;
      mode: 'resume' | 'retry';
      tool: string;
      /** The recorded arguments; those of a secret input are masked. */
      args: Array<string>;
      cwd: string;
      /** The number that the attempt would have. */
      attempt: number;
      timeout_s: number;
      /** The checkpoints from which it would continue. */
      checkpoints: Array<string>;
      /** The completed steps of a workflow that would run again. */
      steps_again: Array<string>;
      /** The steps of a workflow that would run, unless their conditions skip them. */
      steps_to_run: Array<string>;
      /** The steps of a workflow whose results would be kept. */
      steps_kept: Array<string>;
      dry_run: true;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Run the steps of a workflow, each as a run of its own, and stream the events. */
  'workflow.run': {
    input: {
      /** The workflow: its name, or the path of its file. */
      workflow: string;
      /** The workflow's inputs, as flags; --input-json takes them as JSON. */
      args?: Array<string> | undefined;
      /** Seconds, or 5m, 1h, until the deadline of the whole workflow. */
      timeout?: number | undefined;
      /** Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent. */
      stream?: boolean | undefined;
      /** Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir. */
      ci?: boolean | undefined;
      /** Return the id at once; the workflow continues in the background. */
      detach?: boolean | undefined;
      /** ACTION=VALUE, an answer to a question that the workflow or one of its tools may ask. */
      answer?: Array<string> | undefined;
      /** A JSON or YAML file of answers: action to value. */
      answers?: string | undefined;
      /** Idempotency key: repeating the call with the same key shows the existing run instead of starting a second one. */
      idempotency_key?: string | undefined;
      /** Check everything, show what would run, and start nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      run_id: string;
      tool: string;
      state: 'completed' | 'failed' | 'cancelled';
      code: string | null;
      message: string | null;
      hint: string | null;
      retryable: boolean;
      rc: number | null;
      signal: string | null;
      attempt: number;
      duration_s: number;
      events: number;
      artifacts: Array<{
        path: string;
        kind: 'file' | 'directory';
        /** In bytes. */
        size: number;
        sha256: string;
        media_type: string;
        files?: number | undefined;
        /** The step that made it, when that is another run. */
        run_id?: string | undefined;
      }>;
      survivors: Array<{
        pid: number;
        command: string;
      }>;
      result: Record<string, unknown> | null;
      /** What the tool asked, and has no answer. */
      questions?: Array<{
        /** The run to answer, when that is one that this run has started. */
        run_id?: string | undefined;
        action_id: string;
        action: string;
        /** Who should answer. */
        audience: 'ai' | 'user' | 'model' | 'client';
        /** Whether the run waits for the answer. */
        blocking: boolean;
        msg: string | null;
        context: Record<string, unknown>;
        options: Array<Record<string, unknown>> | null;
        /** JSON Schema of the answer. */
        schema: Record<string, unknown> | null;
        /** Seconds after which the run goes on without an answer. */
        timeout_s?: number | undefined;
        /** The answer that it then takes; without one it fails. */
        default?: unknown | undefined;
        /** The command that answers, where only the caller knows a valid answer: JSON stands for it. */
        answer_with?: string | undefined;
      }> | undefined;
      next: Array<string>;
      dir: string;
    } | {
      workflow: string;
      file: string;
      /** SHA-256 of the file: a resume requires the same content. */
      digest: string;
      inputs: Record<string, unknown>;
      steps: Array<{
        name: string;
        kind: string;
        needs: Array<string>;
        /** The tools that it calls, or the file of its workflow. */
        runs: Array<string>;
      }>;
      timeout_s: number;
      max_concurrency: number;
    } | {
      run_id: string;
      state: string;
      dir: string;
    };
  };
  /** Write a workflow to begin with: a valid file whose comments explain it. */
  'workflow.template': {
    input: {
      /** The name of the workflow. */
      name?: string | undefined;
      /** The folder for the file; by default workflows/ of the project. */
      output?: string | undefined;
      /** Show what would be written, and write nothing. */
      dry_run?: boolean | undefined;
    };
    data: {
      name: string;
      dry_run: boolean;
      files: Array<{
        /** Relative to the project’s folder; absolute when it is outside. */
        path: string;
        action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
        why?: string | undefined;
        /** What a person must do by hand. */
        by_hand?: string | undefined;
        lines?: Array<{
          line: number;
          before: string;
          after: string;
        }> | undefined;
      }>;
    };
  };
  /** Check workflows before running them; every finding has its place and its fix. */
  'workflow.validate': {
    input: {
      /** Workflows by name or path; by default all workflows of the project. */
      workflows?: Array<string> | undefined;
      /** Treat warnings as errors. */
      strict?: boolean | undefined;
    };
    data: {
      findings: Array<{
        file: string;
        /** From 1; 0 is the whole file. */
        line: number;
        col: number;
        severity: 'error' | 'warning';
        rule: string;
        message: string;
        fix: string;
      }>;
      errors: number;
      warnings: number;
      /** How many workflows were checked, not counting nested ones. */
      workflows: number;
    };
  };
}
