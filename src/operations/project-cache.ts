// For a server of many requests: surfaces may not import the core.
export { ProjectCache } from '../core/project/open-project.ts';
export { ownFile } from '../core/registry/own-files.ts';
export { SupervisorPool } from '../core/supervision/supervisor-pool.ts';
