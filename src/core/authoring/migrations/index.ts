import { config0to1 } from './config-0-to-1.ts';
import type { Migration } from './migration.ts';

/** The migrations of `.acor/config.yaml`, the oldest first. */
export const MIGRATIONS: readonly Migration[] = [config0to1];
