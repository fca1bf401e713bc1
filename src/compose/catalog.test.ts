import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildCatalog, type Catalog, type CatalogEntry, catalogSchema } from './catalog.ts';
import { notesApp } from './fixtures/notes-app.ts';
import { callNotes, runNotes } from './fixtures/run-notes.ts';

describe('the catalog', () => {
  it('has just these fields for each operation, in this order', async () => {
    const { tools } = (await buildCatalog(notesApp())) as Catalog;
    assert.equal(tools.length, 9);
    for (const tool of tools) {
      assert.deepEqual(Object.keys(tool), [
        'name',
        'command',
        'category',
        'description',
        'effect',
        'parameters',
        'outputFields',
        'outputSchema',
        'inputSchema',
        'idempotent',
        'rateLimit',
        'example',
      ]);
    }
  });

  it('is ordered by category, then name, and the same every time', async () => {
    const first = await callNotes(['tools']);
    const names = first.envelope.data.tools.map((each: CatalogEntry) => each.name);
    assert.deepEqual(names, [
      'archive.page',
      'note.add',
      'note.list',
      'note.remove',
      'note.watch',
      'system.bytes',
      'system.context',
      'system.tools',
      'tool.exec',
    ]);
    assert.deepEqual((await callNotes(['tools'])).envelope.data, first.envelope.data);
    assert.equal(first.envelope.meta.count, 9);
  });

  it('lists the global flags', async () => {
    const { envelope } = await callNotes(['tools', '--fields', 'globalFlags.name']);
    const names = envelope.data.globalFlags.map((flag: { name: string }) => flag.name);
    assert.deepEqual(names, [
      'json',
      'toon',
      'format',
      'fields',
      'limit',
      'offset',
      'max-tokens',
      'input-json',
      'cwd',
      'help',
      'version',
    ]);
  });

  it('makes the entry of an operation from its one description', async () => {
    const { envelope } = await callNotes(['tools', 'note.list']);
    const { inputSchema, outputSchema, ...entry } = envelope.data as CatalogEntry;
    assert.deepEqual(entry, {
      name: 'note.list',
      command: 'notes list',
      category: 'note',
      description: 'List the notes.',
      effect: 'reads',
      parameters: [
        {
          name: 'tag',
          type: 'string[]',
          required: false,
          description: 'Only notes with this tag.',
          default: [],
        },
        {
          name: 'sort',
          type: 'string',
          required: false,
          description: 'The order.',
          default: 'title',
          enum: ['title', 'age'],
        },
        { name: 'min-size', type: 'integer', required: false, description: 'Only notes of so many bytes.' },
        { name: 'ratio', type: 'number', required: false, description: 'A number.' },
        {
          name: 'format',
          type: 'string',
          required: false,
          description: 'The form of the answer.',
          enum: ['json', 'table', 'text', 'csv'],
        },
      ],
      outputFields: ['id', 'title', 'tags', 'author', 'archived'],
      idempotent: true,
      rateLimit: null,
      example: 'notes list --tag even',
    });
    assert.deepEqual((inputSchema['properties'] as Record<string, unknown>)['sort'], {
      default: 'title',
      description: 'The order.',
      type: 'string',
      enum: ['title', 'age'],
    });
    assert.deepEqual(outputSchema['required'], ['folder', 'notes']);
    assert.equal(envelope.meta.count, undefined);
  });

  it('marks positionals, which come first', async () => {
    const { envelope } = await callNotes(['tools', 'exec']);
    const [tool, args, timeout] = (envelope.data as CatalogEntry).parameters;
    assert.deepEqual([tool?.name, tool?.required, tool?.positional], ['tool', true, true]);
    assert.deepEqual([args?.name, args?.required, args?.positional], ['args', false, true]);
    assert.equal(timeout?.positional, undefined);
  });

  it('finds an operation by name or by command, and names the nearest otherwise', async () => {
    assert.equal((await callNotes(['tools', 'archive page'])).envelope.data.name, 'archive.page');
    const { envelope, exit } = await callNotes(['tools', 'note.lst']);
    assert.equal(exit, 1);
    assert.match(envelope.error.hint, /Did you mean note\.list\?/);
  });

  it('fits its own schema, whole and in part', async () => {
    catalogSchema.parse(await buildCatalog(notesApp()));
    catalogSchema.parse(await buildCatalog(notesApp(), 'note.add'));
    assert.equal(catalogSchema.safeParse({ tools: [{}] }).success, false);
  });

  it('can be cut down to what an agent wants to know', async () => {
    const { envelope } = await callNotes(['tools', '--fields', 'name,command', '--limit', '1']);
    assert.deepEqual(envelope.data, { tools: [{ name: 'archive.page', command: 'notes archive page' }] });
    assert.deepEqual([envelope.meta.total, envelope.meta.hasMore], [9, true]);
  });

  it('is a list of commands for a person', async () => {
    const { stdout } = await runNotes(['tools'], { stdoutIsTTY: true, env: { NO_COLOR: '1' } });
    assert.match(stdout, /^note\n {2}notes add +Add a note\.$/m);
    const detail = await runNotes(['tools', 'add'], { stdoutIsTTY: true, env: { NO_COLOR: '1' } });
    assert.match(detail.stdout, /^notes add {2}note\.add\n/);
  });
});
