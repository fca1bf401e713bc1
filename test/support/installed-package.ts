import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The command as npm installs it, made of a checkout and its compiled program: the package, that of the platform, and the link, whose path this returns. */
export function installedCommand(folder: string, checkout: string, program: string): string {
  const modules = join(folder, 'node_modules');
  const platform = join(modules, '@acor', `${process.platform}-${process.arch}`);
  for (const path of [join(modules, 'acor', 'dist'), platform, join(modules, '.bin')])
    mkdirSync(path, { recursive: true });
  copyFileSync(join(checkout, 'acor'), join(modules, 'acor', 'acor'));
  const caller = join(checkout, 'src', 'host', 'call-host.pl');
  // A benchmark of an earlier revision has none.
  if (existsSync(caller)) copyFileSync(caller, join(modules, 'acor', 'dist', 'call-host.pl'));
  symlinkSync(program, join(platform, 'acor'));
  symlinkSync('../acor/acor', join(modules, '.bin', 'acor'));
  return join(modules, '.bin', 'acor');
}
