// A surface that serves many requests keeps one; it does not know the core.
export { ProjectCache } from '../core/project/project-cache.ts';
