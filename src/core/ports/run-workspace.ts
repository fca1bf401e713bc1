/** The paths of one run on the machine that executes it (contract §6). They are the executor's and no part of the record. All are absolute. */
export interface RunWorkspace {
  /** The run's folder, which holds all of the others. */
  dir: string;
  work: string;
  checkpoints: string;
  /** Outputs until they are put in place. */
  staging: string;
  logs: string;
  /** LOG_DIR: the tool's own, so that the runner's logs beside it are the runner's alone. */
  toolLogs: string;
  stdoutLog: string;
  stderrLog: string;
  artifacts: string;
  /** The FIFOs of the tool's streams. */
  control: string;
  /** What the tool may see of `control`: only its supervisor writes here. */
  toolControl: string;
  /** CANCEL_FILE: asks the tool to end. */
  cancelFile: string;
  /** ANSWERS_DIR. */
  answers: string;
  secrets: string;
  /** Which paths belong to the run's own user while it lives, and who owned them before. */
  ownershipRecord: string;
}
