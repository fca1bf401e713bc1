import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The line that names the schema for editors in the manifest of a tool, in a project that has a place for the schema. */
export async function modelinesIn(root: string, folder: string): Promise<(name: string) => string | null> {
  if (!existsSync(join(root, '.acor'))) return () => null;
  const { schemaReference } = await import('../../core/authoring/scaffold/schema-files.ts');
  return (name) => {
    const schema = schemaReference(root, join(folder, name), 'manifest');
    return schema && `yaml-language-server: $schema=${schema}`;
  };
}

/** Writes the schema, where the project has a place for it and does not have it yet. */
export async function writeSchema(root: string): Promise<void> {
  const [{ hasSchema, planSchema }, { writeFiles }] = await Promise.all([
    import('../../core/authoring/scaffold/schema-files.ts'),
    import('../../core/authoring/scaffold/write-files.ts'),
  ]);
  if (existsSync(join(root, '.acor')) && !hasSchema(root, 'manifest'))
    writeFiles([planSchema(root, 'manifest')], root);
}
