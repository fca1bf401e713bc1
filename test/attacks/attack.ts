/** One attack: what is tried, and the expected outcome. */
export interface Attack {
  number: number;
  title: string;
  /** What a sandbox or the runner must do. */
  must: string;
  /** The target: what confines a tool, tried with every backend, or the runner, which is the same for all backends. */
  at: 'sandbox' | 'runner';
  /** What a backend does not prevent, and what a tool can do because of that. */
  open?: Readonly<Record<string, string>>;
  /** Why the control cannot show that the attack succeeds without the defence: for every user, or for an ordinary user only. */
  noControl?: string;
  noControlAsUser?: string;
}

export type Family =
  | 'Files'
  | 'Processes'
  | 'Information'
  | 'Privileges and the kernel'
  | 'Network'
  | 'Resources'
  | 'Input of the runner'
  | 'Around the run'
  | 'Injection, rules, questions and layers';
