/** One attack: what is tried, and what must become of it. */
export interface Attack {
  number: number;
  title: string;
  /** What a sandbox or the runner must do. */
  must: string;
  /** Whom it is aimed at: what confines a tool, tried with every backend, or the runner, which is the same for all. */
  at: 'sandbox' | 'runner';
  /** What a backend does not hold, and what that leaves to a tool. */
  open?: Readonly<Record<string, string>>;
  /** Why it cannot be shown to succeed without what holds it: for nobody, or for an ordinary user alone. */
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
  | 'Input of the runner';
