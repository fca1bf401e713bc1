import * as z from 'zod';

/** Each address that a client reads is compared with it. */
const MAX_ADDRESS_CHARS = 1000;
const VARIABLE = /\{([^{}]*)\}/g;

/** Something that a project publishes: files of it, or what a tool returns. */
export const publishedResource = z
  .strictObject({
    uri: z
      .string()
      .regex(/^[a-z][a-z0-9+.-]*:\/\/[^\s?#]+$/, 'must be an address such as docs://{path}')
      .max(MAX_ADDRESS_CHARS)
      .optional()
      .describe(
        'The address. With files {path} stands for the path; with a tool each {variable} for an input. By default acor://files/{path}.',
      ),
    files: z.string().min(1).optional().describe('A file of the project, or a glob for several.'),
    tool: z
      .string()
      .min(1)
      .optional()
      .describe('A tool that only reads; the data of its result is the resource.'),
    name: z.string().min(1).optional().describe('For people.'),
    description: z.string().min(1).optional().describe('What it is.'),
    mime_type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type such as text/plain')
      .optional()
      .describe('Instead of the one that the name of the file stands for.'),
  })
  .superRefine(({ uri, files, tool }, context) => {
    for (const [message, fix] of mistakesOfResource({ uri, files, tool }))
      context.addIssue({ code: 'custom', message, params: { rule: 'resource', fix } });
  });

function* mistakesOfResource({
  uri,
  files,
  tool,
}: {
  uri: string | undefined;
  files: string | undefined;
  tool: string | undefined;
}): Generator<[message: string, fix: string]> {
  const variables = [...(uri ?? '').matchAll(VARIABLE)].map(([, name]) => name!);
  if ((files === undefined) === (tool === undefined))
    yield ['a resource comes from files or from a tool', 'Write one of them.'];
  if (uri?.startsWith('acor:'))
    yield ['addresses that begin with acor: are those of ACOR', 'Choose another beginning, such as docs://.'];
  if (tool !== undefined && uri === undefined)
    yield ['a resource of a tool needs an address', 'Add it: uri: report://{id}'];
  if (tool !== undefined && variables.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)))
    yield ['a variable of an address has the name of an input of the tool', 'Write it as {input}.'];
  if (files !== undefined && uri !== undefined && variables.some((name) => name !== 'path'))
    yield ['the address of files has the variable {path} alone', 'Write {path}, or no variable.'];
  if (files !== undefined && /[*?{]/.test(files) && uri !== undefined && variables.length === 0)
    yield ['several files would have the same address', 'Add {path} to it.'];
}
