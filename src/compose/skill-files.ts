import type { CliApp } from './cli-app.ts';
import { guideOf, guideText } from './guide.ts';

/** A file of a skill for agents. */
export interface SkillFile {
  /** Below the folder of skills, such as `.claude/skills`. */
  path: string;
  text: string;
}

/** The files of a skill that teaches an agent a program: what it is for, and its guide. */
export async function skillFiles<C>(app: CliApp<C>): Promise<SkillFile[]> {
  const { name, summary } = app;
  const guide = guideText(app, await guideOf(app));
  const description = JSON.stringify(`${summary} Use the command ${name} for it.`);
  return [
    {
      path: `${name}/SKILL.md`,
      text: `---\nname: ${name}\ndescription: ${description}\nallowed-tools: Bash(${name}:*)\n---\n\n${guide}`,
    },
  ];
}
